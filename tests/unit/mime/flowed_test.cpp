#include "mime/flowed.hpp"
#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using mime::unflow;
using testing::view_of;

TEST_CASE("flowed lines become paragraphs", "[mime][torture-27]")
{
    CHECK(unflow("one \r\ntwo \r\nthree\r\nfour\r\n", false) == "one two three\r\nfour\r\n");
    CHECK(unflow("one \ntwo\n\nthree\n", false) == "one two\n\nthree\n");
    CHECK(unflow("one  \r\ntwo", false) == "one  two");
    CHECK(unflow("", false).empty());
    CHECK(unflow("\r\n\r\n", false) == "\r\n\r\n");
    CHECK(unflow("last ", false) == "last ");
    CHECK(unflow("last \r\n", false) == "last \r\n");
}

TEST_CASE("DelSp takes away the space before a joint and no other", "[mime][torture-27]")
{
    CHECK(unflow("Your code is 123 \r\n456.\r\n", true) == "Your code is 123456.\r\n");
    CHECK(unflow("with  \r\nspace\r\n", true) == "with space\r\n");
    CHECK(unflow("last \r\n", true) == "last \r\n");
    CHECK(unflow("last \r\n> quoted\r\n", true) == "last \r\n> quoted\r\n");
}

TEST_CASE("quoted paragraphs flow within their depth", "[mime][torture-27]")
{
    CHECK(unflow("> one \r\n> two\r\n", false) == "> one two\r\n");
    CHECK(unflow(">one \r\n> two\r\n", false) == ">one two\r\n");
    CHECK(unflow(">> deep \r\n>> er\r\n> less \r\nnone\r\n", false) ==
          ">> deep er\r\n> less \r\nnone\r\n");
    CHECK(unflow("mine \r\n> theirs \r\n> too\r\n", false) == "mine \r\n> theirs too\r\n");
    CHECK(unflow(">\r\n> x\r\n", false) == ">\r\n> x\r\n");
}

TEST_CASE("stuffed spaces are taken off, and what they protect stays", "[mime][torture-27]")
{
    CHECK(unflow(" From here\r\n >no quote\r\n  indented\r\n", false) ==
          "From here\r\n>no quote\r\n indented\r\n");
    CHECK(unflow("one \r\n  two\r\n", false) == "one  two\r\n");
}

TEST_CASE("a signature's separator never flows", "[mime][torture-27]")
{
    CHECK(unflow("bye \r\n-- \r\nAnn\r\n", false) == "bye \r\n-- \r\nAnn\r\n");
    CHECK(unflow("> bye \r\n> -- \r\n> Ann\r\n", false) == "> bye \r\n> -- \r\n> Ann\r\n");
}

TEST_CASE("only the derived text of a flowed mail is unflowed", "[mime][torture-27]")
{
    const auto flowed =
        view_of("Content-Type: text/plain; format=flowed\n\nYour code \nis 123456.\n");
    CHECK(flowed.text == "Your code is 123456.\r\n");
    CHECK(flowed.summary.preview == "Your code is 123456.");
    CHECK_FALSE(flowed.is_text_derived);

    const auto japanese = view_of(
        "Content-Type: text/plain; format=Flowed; DelSp=\"Yes\"; charset=utf-8\n\n認証 \nコード\n");
    CHECK(japanese.text == "認証コード\r\n");

    const auto coded =
        view_of("Content-Type: text/plain; format=flowed\nContent-Transfer-Encoding: "
                "quoted-printable\n\none=20\ntwo\n");
    CHECK(coded.text == "one two\r\n");

    const auto fixed = view_of("Content-Type: text/plain\n\none \n two\n");
    CHECK(fixed.text == "one \r\n two\r\n");
    const auto html = view_of("Content-Type: text/html; format=flowed\n\n<p>one \n two</p>\n");
    CHECK(html.html == "<p>one \r\n two</p>\r\n");

    const auto kept = view_of("Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\n"
                              "Content-Type: text/plain; format=flowed; "
                              "name=a.txt\nContent-Disposition: attachment\n\none \ntwo\n--b--\n");
    REQUIRE(kept.attachments.size() == 1);
    CHECK(kept.attachments[0].size == 9);
}

TEST_CASE("unflowing is linear and never makes a text longer", "[mime][torture-27]")
{
    for (const auto* unit : {"> \n", ">", " ", "a \n", "-- \n", "\r", ">> x \n> y \n"}) {
        const auto text = testing::repeated(unit, 300'000);
        CHECK(unflow(text, false).size() <= text.size());
        CHECK(unflow(text, true).size() <= text.size());
    }
}
