#include "common/log/line.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::string_literals;

namespace {

const time_point some_time = *parse_iso8601("2026-11-21T10:00:00.123Z");

std::string line(std::string_view message, std::initializer_list<log::field> fields,
                 std::uint64_t suppressed = 0)
{
    return log::format_line(some_time, log::level::info, message,
                            log::origin_members("inbox", "1.0", "abc"), suppressed, fields);
}

} // namespace

TEST_CASE("a line is one JSON object", "[log]")
{
    const std::string text = "x";
    CHECK(
        line("hello", {{"topic", text}, {"offset", 42}, {"ratio", 0.5}, {"is_late", true}}) ==
        R"({"ts":"2026-11-21T10:00:00.123Z","level":"info","msg":"hello","service":"inbox","version":"1.0","instance":"abc",)"
        R"("topic":"x","offset":42,"ratio":0.5,"is_late":true})");
}

TEST_CASE("what comes from outside cannot begin a line of its own", "[log]")
{
    const auto text = line("a\nb", {{"helo", "x\r\n{\"ts\":1}\x1b[2J\x7f\0\"\\"s}});

    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find("\"msg\":\"a\\nb\"") != std::string::npos);
    CHECK(text.find(R"("helo":"x\r\n{\"ts\":1}\u001b[2J\u007f)") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("invalid UTF-8 is replaced and long texts are cut", "[log]")
{
    CHECK(line("\xff", {}).find("\"msg\":\"\xef\xbf\xbd\"") != std::string::npos);
    CHECK(line(std::string(100'000, 'x'), {}).size() < 5'000);
}

TEST_CASE("a number that JSON does not have is null", "[log]")
{
    CHECK(line("m", {{"ratio", std::numeric_limits<double>::infinity()}}).find("\"ratio\":null") !=
          std::string::npos);
}

TEST_CASE("suppressed lines are counted in the next", "[log]")
{
    CHECK(line("m", {}, 7).ends_with(",\"suppressed\":7}"));
}
