#include "mime/addresses.hpp"

#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::string_literals;
using testing::has_defect;
using testing::repeated;
using testing::view_of;

namespace {

// As `name<address>`, one after the other.
std::string addresses(std::string_view field)
{
    std::string all;
    for (const auto& [name, address] : mime::parse_addresses(field, 1'000).addresses)
        all += name + "<" + address + ">";
    return all;
}

// As `fromName<from>`.
std::string from(const std::string& field)
{
    const auto summary = view_of("From: " + field + "\n\nx\n").summary;
    return summary.from_name + "<" + summary.from + ">";
}

} // namespace

TEST_CASE("addresses", "[mime][torture-28]")
{
    CHECK(addresses("a@b.test") == "<a@b.test>");
    CHECK(addresses("A B <a@b.test>, \"C, D\" <c@d.test>") == "A B<a@b.test>C, D<c@d.test>");
    CHECK(addresses("friends: a@b.test, c@d.test;, e@f.test") == "<a@b.test><c@d.test><e@f.test>");
    CHECK(addresses("Undisclosed recipients:;") == "");
    CHECK(addresses("=?utf-8?q?J=C3=BCrgen?= <j@b.test>") == "Jürgen<j@b.test>");
    CHECK(addresses("\"=?utf-8?q?J=C3=BCrgen?=\" <j@b.test>") == "Jürgen<j@b.test>");
    CHECK(addresses("=?utf-8?q?Doe,_Sam?= <j@b.test>") == "Doe, Sam<j@b.test>");
    CHECK(addresses("用户@例え.test") == "<用户@例え.test>");
    CHECK(addresses("a@b.test (a comment)") == "a comment<a@b.test>");
    CHECK(addresses("(one (two \\) ) ,) A <a@b.test>") == "A<a@b.test>");
    CHECK(addresses("A (at work) B <a@b.test> (ignored)") == "A (at work) B<a@b.test>");
    CHECK(addresses("=?utf-8?b?=?= <a@b.test> (a comment)") == "a comment<a@b.test>");
    CHECK(addresses("root") == "<root>");
    CHECK(addresses("a@xn--r8jz45g.test") == "<a@xn--r8jz45g.test>");
    CHECK(addresses("\"用户\"@b.test") == "<\"用户\"@b.test>");
    CHECK(addresses("\"a \\\" , @ b\"@c.test") == "<\"a \\\" , @ b\"@c.test>");
    CHECK(addresses("a . b @ c . test") == "<a.b@c.test>");
    CHECK(addresses("a@[192.0.2.1], b@[IPv6:2001:db8::1]") ==
          "<a@[192.0.2.1]><b@[IPv6:2001:db8::1]>");
    CHECK(addresses("a@b.test, , c@d.test,") == "<a@b.test><c@d.test>");
    CHECK(addresses("<@route.test,@r.test:a@b.test>") == "<a@b.test>");
    CHECK(addresses("<<<<a@b.test>>>>") == "<a@b.test>");
    CHECK(addresses("Name <a@b.test") == "Name<a@b.test>");
    CHECK(addresses("Name <a@b.test, c@d.test") == "Name<a@b.test><c@d.test>");
    CHECK(addresses("\"A\\\"B\\\\\" <a@b.test>") == "A\"B\\<a@b.test>");
    CHECK(addresses("") == "");
}

TEST_CASE("an entry with more than one address in it is none", "[mime][torture-28]")
{
    for (const char* odd : {"victim@good.test@evil.test", "<victim@good.test@evil.test>",
                            "V <victim@good.test@evil.test>", "<a@good.test b@evil.test>",
                            "<a b@good.test> <b@evil.test>", "a@b@c", "@@@@"}) {
        INFO(odd);
        CHECK(addresses(odd) == "<"s + odd + ">");
        CHECK_FALSE(mime::is_address(mime::parse_addresses(odd, 10).addresses.at(0).address));
    }
    CHECK(from("victim@good.test@evil.test") == "<victim@good.test@evil.test>");
    CHECK(addresses("\"victim@good.test\" <x@evil.test>") == "victim@good.test<x@evil.test>");
    CHECK(addresses("victim@good.test <x@evil.test>") == "victim@good.test<x@evil.test>");
}

TEST_CASE("comments may stand anywhere in an address", "[mime][torture-28]")
{
    // Like RFC 5322 A.5.
    CHECK(from("Pete(A wonderful \\) chap) <pete(his account)@silly.test(his host)>") ==
          "Pete(A wonderful ) chap)<pete@silly.test>");
    CHECK(addresses("A Group(Some people)\t :Chris Jones <c@(Chris's host.)public.test>,\t "
                    "joe@example.test,  John "
                    "<jdoe@one.test> (my dear friend); (the end of the group)") ==
          "Chris Jones<c@public.test><joe@example.test>John<jdoe@one.test>");
    CHECK(addresses("(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;") == "");

    CHECK(addresses("pete(his account)@silly.test(his host)") == "his account<pete@silly.test>");
    CHECK(addresses("(a)pete(b).(c)d(e)@(f)silly(g).(h)test(i)") == "a<pete.d@silly.test>");
    CHECK(addresses("P <(a)pete(b).(c)d(e)@(f)silly(g).(h)test(i)>") == "P<pete.d@silly.test>");
    CHECK(addresses("P <(one, (two > three); <)p@x.test(\\)>,)>, q@x.test") ==
          "P<p@x.test><q@x.test>");
    CHECK(addresses("P <@r.test(a:b),@s.test:(c)p@x.test>") == "P<p@x.test>");
    CHECK(addresses("<\"a (b) c\"(d)@x.test>") == "<\"a (b) c\"@x.test>");
    CHECK(addresses("\"a\" . b.\"c d\" (e) @ x.test") == "e<\"a\".b.\"c d\"@x.test>");
    CHECK(addresses("p@(never closed x.test, q@x.test") == "<p@(never closed x.test><q@x.test>");
    CHECK(addresses("<p@x.test(>, q@x.test") == "<<p@x.test(>><q@x.test>");
    // A comment stands for a blank.
    CHECK(addresses("pe(c)te@x.test") == "<pe(c)te@x.test>");
    CHECK(addresses("<pe(c)te@x.test>") == "<<pe(c)te@x.test>>");
}

TEST_CASE("where a comma is missing each address counts, and a defect says so",
          "[mime][torture-28]")
{
    const std::pair<const char*, std::string> lists[] = {
        {"a@x.test b@y.test", "<a@x.test><b@y.test>"},
        {"a@x.test\t b @ y.test (B) \"c d\"@z.test", "<a@x.test><b@y.test><\"c d\"@z.test>"},
        {"Ann <a@x.test> Bob <b@y.test>", "Ann<a@x.test>Bob<b@y.test>"},
        {"Ann <a@x.test> \"Bob, B\" (at work) <b@y.test> <c@z.test>",
         "Ann<a@x.test>Bob, B (at work)<b@y.test><c@z.test>"},
        {"<a@x.test> (Ann) <b@y.test> (Bob)", "Ann<a@x.test>Bob<b@y.test>"},
        {"<a@good.test> b@evil.test", "<a@good.test><b@evil.test>"},
        {"Doe, Sam <s@x.test> a@y.test, b@z.test", "Doe, Sam<s@x.test><a@y.test><b@z.test>"},
        {"g: <a@x.test> <b@y.test>; c@z.test", "<a@x.test><b@y.test><c@z.test>"},
        {"Ann <a@x.test> for b@y.test", "Ann<a@x.test><for b@y.test>"},
    };
    for (const auto& [field, expected] : lists) {
        INFO(field);
        CHECK(addresses(field) == expected);
        const auto view = view_of("From: " + std::string(field) + "\nTo: " + field + "\n\nx\n");
        CHECK(has_defect(view, "missing_comma"));
        CHECK(expected == view.summary.from_name + "<" + view.summary.from + ">" +
                              expected.substr(expected.find('>') + 1));
        CHECK(view.headers.at(0).second.size() == std::string_view(field).size());
    }
    for (const char* sound : {"a@x.test, b@y.test", "a@x.test <a@x.test>",
                              "Ann <a@x.test> and so on", "<a@x.test> (b@y.test)", "Ann b@y.test",
                              "a@x.test;b@y.test", "Ann <a@x.test> \"b@y.test\""})
        CHECK_FALSE(has_defect(view_of("To: " + std::string(sound) + "\n\nx\n"), "missing_comma"));
}

TEST_CASE("what is no address is kept as it came, beside those that are", "[mime][torture-28]")
{
    for (const char* odd : {"a..b@c.test", "a@b..test", "bad bad", "a b@c.test", "<>", "N <>", "a@",
                            "N <a@b..test>", "N <a b@c.test>", "\"", "(((((", "\x01@b.test"}) {
        INFO(odd);
        CHECK(addresses(odd) == "<"s + odd + ">");
        CHECK(addresses("good@x.test, "s + odd) == "<good@x.test><"s + odd + ">");
        CHECK(addresses("good@x.test; "s + odd) == "<good@x.test><"s + odd + ">");
    }
    CHECK(addresses("b@x.test; c@x.test") == "<b@x.test><c@x.test>");
    CHECK(addresses("good@x.test, @r.test,@s.test:a@b.test") ==
          "<good@x.test><@r.test><@s.test:a@b.test>");
    CHECK(addresses(":::;;;") == "<:::;;;>");
    CHECK(addresses(",") == "<,>");
}

TEST_CASE("a comma in a name that is not quoted does not part it", "[mime][torture-28]")
{
    CHECK(addresses("Roe, Ann <ann@x.test>") == "Roe, Ann<ann@x.test>");
    CHECK(addresses("a@x.test, Roe, Dr, Ann <ann@x.test>, b@x.test") ==
          "<a@x.test>Roe, Dr, Ann<ann@x.test><b@x.test>");
    CHECK(addresses("\"Roe\", <ann@x.test>") == "Roe<ann@x.test>");
    CHECK(addresses("root, a@x.test, B <b@x.test>") == "<root><a@x.test>B<b@x.test>");
    CHECK(addresses("root; B <b@x.test>") == "<root>B<b@x.test>");
    CHECK(addresses("Roe, Ann") == "<Roe><Ann>");
    CHECK(addresses("Roe, Ann <a@b@c>") == "<Roe><Ann <a@b@c>>");
}

TEST_CASE("an address inside an encoded word is found", "[mime]")
{
    CHECK(addresses("=?utf-8?B?SsO8cmcgPGpAeC50ZXN0Pg==?=") == "Jürg<j@x.test>");
    CHECK(addresses("=?utf-8?Q?J=C3=BCrg_<j@x.test>?=") == "Jürg<j@x.test>");
    CHECK(addresses("=?utf-8?Q?J=C3=BCrg?= =?utf-8?Q?_=3Cj=40x.test=3E?=") == "Jürg<j@x.test>");
    CHECK(addresses("\"=?utf-8?Q?J=C3=BCrg_=3Cj=40x.test=3E?=\"") == "Jürg<j@x.test>");
    CHECK(addresses("Ann =?utf-8?Q?=3Cann=40x.test=3E?=") == "Ann<ann@x.test>");
    CHECK(addresses("=?utf-8?Q?ann=40x.test?=") == "<ann@x.test>");
    CHECK(addresses("Ann <=?utf-8?Q?ann=40x.test?=>") == "Ann<ann@x.test>");
    CHECK(addresses("Ann <=?utf-8?Q?ann@x.test?=>") == "Ann<ann@x.test>");
    CHECK(addresses("<=?utf-8?Q?ann?=@x.test>") == "<=?utf-8?Q?ann?=@x.test>");
    CHECK(addresses("=?utf-8?Q?a@x.test,_B_<b@x.test>?=, c@x.test") ==
          "<a@x.test>B<b@x.test><c@x.test>");
    CHECK(addresses("=?utf-8?Q?J=C3=BCrg?=") == "<Jürg>");

    // A name that looks like an address stays a name.
    CHECK(addresses("=?utf-8?Q?Bank_=3Cinfo=40bank.test=3E?= <x@y.test>") ==
          "Bank <info@bank.test><x@y.test>");
    // What comes out of an encoded word is not decoded again.
    CHECK(addresses("=?utf-8?Q?=3D=3Futf-8=3FQ=3Fa=3F=3D_<a@x.test>?=") ==
          "=?utf-8?Q?a?=<a@x.test>");
}

TEST_CASE("who a mail is from", "[mime]")
{
    CHECK(from("Ann <ann@b.test>, Bob <bob@b.test>") == "Ann<ann@b.test>");
    CHECK(from("Acme, Inc <noreply@x.test>") == "Acme, Inc<noreply@x.test>");
    CHECK(from("[Acme] Support <noreply@x.test>") == "[Acme] Support<noreply@x.test>");
    CHECK(from("Acme; Inc <noreply@x.test>") == "Inc<noreply@x.test>");
    CHECK(from("bad bad, Bob <bob@b.test@c.test>") == "<bad bad>");
    CHECK(from("=?utf-8?Q?a=00b?= <x@y.test>") == "a\xef\xbf\xbd"
                                                  "b<x@y.test>");
    CHECK(from("=?utf-8?Q?=3D=3Futf-8=3FQ=3Fonce=3F=3D?= <x@y.test>") ==
          "=?utf-8?Q?once?=<x@y.test>");
    CHECK(view_of("Sender: x@y.test\n\nx\n").summary.from.empty());
}

TEST_CASE("at most 1000 addresses are listed", "[mime][torture-28]")
{
    const auto exact = view_of("To: " + repeated("a@b.test, ", 1'000) + "\n\nx\n");
    CHECK(exact.to.size() == 1'000);
    CHECK_FALSE(has_defect(exact, "too_many_addresses"));

    const auto many = view_of("To: " + repeated("a@b.test, ", 20'000) + "\n\nx\n");
    CHECK(many.to.size() == 1'000);
    CHECK(has_defect(many, "too_many_addresses"));

    const auto spread = view_of(repeated("To: " + repeated("a@b.test, ", 3) + "\n", 500) + "\nx\n");
    CHECK(spread.to.size() == 1'000);
    CHECK(has_defect(spread, "too_many_addresses"));
}

TEST_CASE("hostile addresses cost linear time and bounded stack", "[mime][torture-28]")
{
    for (const char* unit :
         {":",          "(",         "<",      "\"",   "@",           "a:",     "\"a:",       "[a:",
          "=?utf-8?Q?", ",;",        "a.b.",   "a,",   "\\\"",        "<@",     "<\"",        "(\\",
          " @",         "(a) ",      "\"a\" ", "<a> ", "<a@b.c> ",    "a@b.c ", "<a@b.c> d ", "<a(",
          "<(a)",       "(a)b@c.d ", "\"a\".", "[:",   "<a@b.c>\"d\""})
        CHECK(addresses(repeated(unit, 100'000)).size() < 2'000'000);
}
