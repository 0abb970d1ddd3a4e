#include "tempinboxctl/record_selection.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

kafka::record dead_letter(std::int32_t partition, std::int64_t offset,
                          const std::string& event = "")
{
    kafka::record made;
    made.partition = partition;
    made.offset = offset;
    if (!event.empty())
        made.headers.emplace_back("ce_id", event);
    return made;
}

std::vector<std::string> positions(const result<std::vector<kafka::record>>& chosen)
{
    std::vector<std::string> texts;
    for (const auto& each : chosen.value())
        texts.push_back(position_of(each).text());
    return texts;
}

const std::vector<kafka::record> stored{dead_letter(1, 7, "b"), dead_letter(0, 3, "a"),
                                        dead_letter(0, 4), dead_letter(1, 8, "a")};

} // namespace

TEST_CASE("a dead letter is named by partition and offset", "[tempinboxctl]")
{
    CHECK(parse_record_position("3/120").value() == record_position{3, 120});
    for (const auto* text :
         {"", "3", "/", "3/", "/3", "-1/3", "3/-1", "3/1/2", "a/b", "3/1x", "99999999999/1"})
        CHECK(parse_record_position(text).has_error());
}

TEST_CASE("exactly the selected dead letters are taken, each once, sorted by position",
          "[tempinboxctl]")
{
    record_selection selection;
    selection.positions = {{1, 8}, {0, 4}};
    CHECK(positions(select_records(stored, selection)) == std::vector<std::string>{"0/4", "1/8"});

    selection.events = {"a"};
    CHECK(positions(select_records(stored, selection)) ==
          std::vector<std::string>{"0/3", "0/4", "1/8"});

    record_selection all;
    all.is_all = true;
    CHECK(positions(select_records(stored, all)).size() == 4);
}

TEST_CASE("a dead letter that is not there is named, and nothing is taken", "[tempinboxctl]")
{
    record_selection selection;
    selection.positions = {{0, 3}, {2, 1}};
    CHECK(select_records(stored, selection).error().message == "There is no dead letter at 2/1");
    selection.positions.clear();
    selection.events = {"a", "z"};
    CHECK(select_records(stored, selection).error().code == errc::not_found);
}
