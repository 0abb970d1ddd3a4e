#include "cli/printable.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::cli;

TEST_CASE("mail cannot command the terminal", "[cli]")
{
    CHECK(printable("a\x1b[2Jb\a\x7f\xc2\x9b"
                    "31mc") == "a[2Jb31mc");
    CHECK(printable("one\r\ntwo\tthree\n") == "one\ntwo\tthree\n");
    CHECK(printable_line("one\r\ntwo\tthree") == "one two three");
    CHECK(printable("grün 日本 🙂") == "grün 日本 🙂");
}

TEST_CASE("mail cannot turn the direction of writing", "[cli]")
{
    CHECK(printable("pay\xe2\x80\xae"
                    "moc.live\xe2\x81\xa6") == "paymoc.live");
}

TEST_CASE("columns are as wide as their widest text", "[cli]")
{
    CHECK(to_table({"NAME", "N"}, {{"grün", "1"}, {"longer", "2"}}) ==
          "NAME    N\ngrün    1\nlonger  2\n");
    CHECK(to_fields({{"From", "a"}, {"Subject", "b"}}) == "From:     a\nSubject:  b\n");
}
