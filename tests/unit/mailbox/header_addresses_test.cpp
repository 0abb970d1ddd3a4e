#include "mailbox/header_addresses.hpp"

#include "common/core/text.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

using addresses = std::vector<mime::email_address>;

header_addresses taken_of(const std::string& fields)
{
    return take_addresses(mime::read_view(fields + "\r\n\r\nx\r\n"));
}

header_addresses stored_and_read(const header_addresses& given)
{
    return header_addresses_from_json(to_json(given));
}

} // namespace

TEST_CASE("each field has its addresses with their names", "[mailbox][addresses]")
{
    const auto taken =
        taken_of("To: =?utf-8?Q?J=C3=BCrgen?= <j@x.test>, b@x.test\r\n"
                 "Cc: Team: \"C, c\" <c@x.test> (at work), d@x.test;\r\nReply-To: r@x.test");

    CHECK(taken.to == addresses{{"Jürgen", "j@x.test"}, {"", "b@x.test"}});
    CHECK(taken.cc == addresses{{"C, c", "c@x.test"}, {"", "d@x.test"}});
    CHECK(taken.reply_to == addresses{{"", "r@x.test"}});
    CHECK(taken_of("Subject: x") == header_addresses());
    CHECK(taken_of("To: undisclosed-recipients:;").to.empty());
}

TEST_CASE("who is named in neither To nor Cc was hidden, whether the header says so or not",
          "[mailbox][addresses]")
{
    const auto hidden = [](const std::string& fields, const std::vector<std::string>& recipients) {
        return hidden_recipients(mime::read_view(fields + "\r\n\r\nx\r\n"), recipients);
    };
    const std::string named = "To: Ann <ANN@x.test>\r\nCc: b\u00f6b@x.test";

    CHECK(hidden(named, {"ann@x.test", "B\u00d6B@x.test"}).empty());
    CHECK(hidden(named, {"ann+tag@x.test", "Eve@x.test", "eve@x.test"}) ==
          addresses{{"", "ann+tag@x.test"}, {"", "Eve@x.test"}});
    CHECK(hidden(named + "\r\nBcc: Dan <dan@x.test>, ann@x.test", {"eve@x.test", "DAN@x.test"}) ==
          addresses{{"Dan", "dan@x.test"}, {"", "eve@x.test"}});
    CHECK(hidden("Subject: no names", {"eve@x.test"}) == addresses{{"", "eve@x.test"}});
}

TEST_CASE("a hundred addresses of a field are kept, the first ones", "[mailbox][addresses]")
{
    std::string list;
    for (int i = 0; i < 1'000; ++i)
        list += (i == 0 ? "" : ",\r\n ") + std::to_string(i) + "@x.test";

    const auto taken = taken_of("To: " + list + "\r\nCc: " + list + "\r\nReply-To: " + list);

    for (const auto& field : {taken.to, taken.cc, taken.reply_to}) {
        REQUIRE(field.size() == 100);
        CHECK(field.front().address == "0@x.test");
        CHECK(field.back().address == "99@x.test");
    }
}

TEST_CASE("names and addresses are cut between characters", "[mailbox][addresses]")
{
    std::string name = "n";
    for (int i = 0; i < 1'000; ++i)
        name += "ü";

    const auto taken = taken_of("To: " + name + " <" + std::string(1'000, 'a') + "@x.test>");

    REQUIRE(taken.to.size() == 1);
    CHECK(taken.to[0].name == name.substr(0, 319));
    CHECK(taken.to[0].address == std::string(320, 'a'));
}

TEST_CASE("what a hostile header holds is stored as valid JSON and read back",
          "[mailbox][addresses]")
{
    const std::string nul("\0", 1);
    for (const auto& value :
         {std::string("\"q\\\"u\\\\o\" <a@x.test>"), std::string("\xff\xfe <\x80@x.test>"),
          "a" + nul + "b <c" + nul + "@x.test>", std::string("=?utf-8?B?AAD/?= <a@x.test>"),
          std::string("=?utf-8?Q?=00=0D=0A=ED=A0=80?= <a@x.test>"), std::string("((((((((<a@"),
          std::string("g:g:g:<<>>,;,;\"@(\\"), std::string("=?x?B?/?= =?utf-8?Q?=?= <@,@:a@x>"),
          std::string(5'000, '('), std::string(5'000, '<'), std::string(5'000, '"')}) {
        const auto taken = taken_of("To: " + value + "\r\nCc: " + value);
        const auto json = to_json(taken);

        CHECK(is_valid_utf8(json));
        CHECK(json.find("\\u0000") == std::string::npos); // no text of PostgreSQL
        CHECK(stored_and_read(taken) == taken);
    }
}

TEST_CASE("the To of an earlier release are addresses without names", "[mailbox][addresses]")
{
    CHECK(to_addresses_from_json(R"(["a@x.test", "b"])") == addresses{{"", "a@x.test"}, {"", "b"}});
    CHECK(to_addresses_from_json("[]").empty());
    std::string many = "[\"" + std::string(500, 'a') + "\"";
    for (int i = 0; i < 200; ++i)
        many += ",\"b\"";
    CHECK(to_addresses_from_json(many + "]").size() == 100);
    CHECK(to_addresses_from_json(many + "]")[0].address.size() == 320);
    CHECK(to_addresses_from_json(R"([{"name": "A", "address": "a@x.test"}])") ==
          addresses{{"A", "a@x.test"}});
}
