#include "unit/mail-ingest/smtp/conversation.hpp"

#include "common/runtime/thread_cpu.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::string_literals;
using testing::conversation;

namespace {

const std::string smuggled = "MAIL FROM:<smuggled@evil.test>\r\n";
const std::string refused = "550 5.5.2 Message has a bare CR or LF";
const std::string taken = "250 2.0.0 Ok: queued as id-1";

// Sequences that servers have taken for the end of the data.
struct false_end
{
    std::string sequence;
    std::string kept; // where bare newlines are taken: RFC 5321 4.5.2 removes the dot that begins a
                      // line, a line begins after CRLF
    bool has_bare_newline = true;
};

const std::vector<false_end> false_ends = {
    {"\n.\n", "\n.\n"},
    {"\n.\r\n", "\n.\r\n"},
    {"\r\n.\n", "\r\n\n"},
    {"\n\n.\r\n", "\n\n.\r\n"},
    {"\r\n.\r\r\n", "\r\n\r\r\n"},
    {"\r\n.\r\r\r\n", "\r\n\r\r\r\n"},
    {"\r.\r", "\r.\r"},
    {"\r.\r\n", "\r.\r\n"},
    {"\r.\n", "\r.\n"},
    {"\n.\r", "\n.\r"},
    {"\r\n.\r", "\r\n\r"},
    {"\r\r\n.\r\r\n", "\r\r\n\r\r\n"},
    {"\n.\0\r\n"s, "\n.\0\r\n"s},
    {"\r\n.\0\r\n"s, "\r\n\0\r\n"s, false},
    {"\r\n\0.\r\n"s, "\r\n\0.\r\n"s, false},
    {"\r\n. \r\n", "\r\n \r\n", false},
    {"\r\n..\r\n", "\r\n.\r\n", false},
    {"\n", "\n"},
    {"\r", "\r"},
    {"\0"s, "\0"s, false},
};

smtp::limits bounds_with(bool takes_bare_newlines)
{
    smtp::limits bounds;
    bounds.takes_bare_newlines = takes_bare_newlines;
    return bounds;
}

// Byte by byte, so that no lookahead can help.
std::string trickle(conversation& talk, const std::string& bytes)
{
    std::string answer;
    for (const char c : bytes)
        answer += talk.raw(std::string(1, c));
    return answer;
}

} // namespace

TEST_CASE("a session cut at any byte is the same session", "[smtp]")
{
    const std::string group = "MAIL FROM:<a@b.test>\r\nRCPT TO:<box@in.test>\r\nDATA\r\n";
    const std::string message = "A: b\r\n\r\n.\r\r\n..\r\n\r.\r\n.x\r\n.\r\n";
    for (std::size_t cut = 1; cut < message.size(); ++cut) {
        smtp::limits bounds;
        bounds.takes_bare_newlines = true;
        conversation talk(bounds);
        talk.hello();
        for (const char c : group)
            talk.raw(std::string(1, c));
        talk.raw(message.substr(0, cut));
        talk.raw(message.substr(cut));
        REQUIRE(talk.stored() == std::vector<std::string>{"A: b\r\n\r\n\r\r\n.\r\n\r.\r\nx\r\n"});
    }
}

TEST_CASE("bare newlines can be let in, byte for byte", "[smtp][torture-30]")
{
    smtp::limits bounds;
    bounds.takes_bare_newlines = true;
    conversation talk(bounds);
    talk.rcpt();
    talk.say("DATA");

    CHECK(talk.raw("a\nb\n.\nc\rd\r\n.\r\n") == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.stored()[0] == "a\nb\n.\nc\rd\r\n");
}

TEST_CASE("nothing but CRLF.CRLF ends the data, and a bare CR or LF is refused after it",
          "[smtp][torture-30]")
{
    for (const auto& [sequence, kept, has_bare_newline] : false_ends) {
        CAPTURE(sequence);
        for (const bool is_trickling : {false, true}) {
            conversation talk;
            talk.rcpt();
            talk.say("DATA");
            const auto sent = "Subject: x\r\n\r\nbody" + sequence + smuggled + "more\r\n";
            CHECK((is_trickling ? trickle(talk, sent) : talk.raw(sent)) == "");
            CHECK(talk.raw(".\r\n") == (has_bare_newline ? refused : taken));
            CHECK(talk.stored().size() == (has_bare_newline ? 0 : 1));
            CHECK(talk.say("RCPT TO:<box@in.test>") == "503 5.5.1 Send MAIL first");
        }
    }
}

TEST_CASE("nothing but CRLF.CRLF ends the data where bare newlines are taken either",
          "[smtp][torture-30]")
{
    for (const auto& [sequence, kept, has_bare_newline] : false_ends) {
        CAPTURE(sequence);
        for (const bool is_trickling : {false, true}) {
            conversation talk(bounds_with(true));
            talk.rcpt();
            talk.say("DATA");
            const auto sent = "body" + sequence + smuggled;
            CHECK((is_trickling ? trickle(talk, sent) : talk.raw(sent)) == "");
            CHECK(talk.raw(".\r\n") == taken);
            CHECK(talk.stored() == std::vector<std::string>{"body" + kept + smuggled});
        }
    }
}

TEST_CASE("in chunks a dot means nothing, and bare newlines are refused or taken as they are",
          "[smtp][torture-30]")
{
    for (const auto& [sequence, kept, has_bare_newline] : false_ends) {
        CAPTURE(sequence);
        for (const bool takes_bare_newlines : {false, true}) {
            conversation talk(bounds_with(takes_bare_newlines));
            talk.rcpt();
            const auto sent = "body" + sequence + smuggled;
            const bool is_refused = has_bare_newline && !takes_bare_newlines;
            CHECK(talk.raw("BDAT " + std::to_string(sent.size()) + " LAST\r\n" + sent) ==
                  (is_refused ? refused : taken));
            CHECK(talk.stored() ==
                  (is_refused ? std::vector<std::string>{} : std::vector<std::string>{sent}));
        }
    }
}

TEST_CASE("a line may be as long as a message", "[smtp][torture-30]")
{
    conversation talk;
    talk.rcpt();
    talk.say("DATA");
    const std::string line = std::string(1'000'000, 'x') + "\r\n";

    CHECK(talk.raw(line) == "");
    CHECK(talk.raw(".\r\n") == taken);
    CHECK(talk.stored() == std::vector<std::string>{line});
}

TEST_CASE("a message of nothing but CR costs linear time", "[smtp][torture-30]")
{
    const auto started = runtime::thread_cpu();
    smtp::data_scanner scanner;
    std::string message;
    const std::string carriages(4'000'000, '\r');

    CHECK(scanner.scan(carriages, message) == carriages.size());
    CHECK(message == carriages);
    CHECK(scanner.has_bare_newline());
    CHECK(runtime::thread_cpu() - started < std::chrono::seconds(10));
}
