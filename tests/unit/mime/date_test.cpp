#include "mime/date.hpp"

#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace tempinbox;
using testing::repeated;

namespace {

// The date as the API shows it, to the second.
std::string date(std::string_view value)
{
    const auto read = mime::parse_date(value);
    return read ? to_iso8601(*read).substr(0, 19) : "absent";
}

constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

} // namespace

TEST_CASE("dates as RFC 5322 3.3 writes them", "[mime][date][torture-31]")
{
    CHECK(date("Fri, 21 Nov 1997 09:55:06 -0600") == "1997-11-21T15:55:06");
    CHECK(date("Thu, 13 Feb 1969 23:32 -0330") == "1969-02-14T03:02:00");
    CHECK(date("1 Apr 2003 00:00:00 +0000") == "2003-04-01T00:00:00");
    CHECK(date("01 Apr 2003 23:59:59 +2359") == "2003-04-01T00:00:59");
    CHECK(date("Tue, 1 Apr 2003 10:52:37 -0000") == "2003-04-01T10:52:37");
    CHECK(date("Sat, 31 Dec 2016 23:59:60 +0000") == "2017-01-01T00:00:00");
    CHECK(date("Sat, 01 Jan 2000 00:00:00 +9959") == "1999-12-27T20:01:00");
    CHECK(date("1 Jan 1900 00:00:00 +0000") == "1900-01-01T00:00:00");
    CHECK(date("31 Dec 9999 23:59:59 +0000") == "9999-12-31T23:59:59");
    CHECK(date("Thu, 29 Feb 2024 10:00:00 +0000") == "2024-02-29T10:00:00");
    for (std::size_t i = 0; i < months.size(); ++i) {
        const auto number = std::to_string(101 + i).substr(1);
        CHECK(date("15 " + std::string(months[i]) + " 2021 10:00:00 +0000") ==
              "2021-" + number + "-15T10:00:00");
    }
}

TEST_CASE("every way of the grammar to write one moment", "[mime][date][torture-31]")
{
    int wrong = 0;
    for (const std::string day : {"", "Mon,", "MON ,"})
        for (const std::string month : {"Jan", "JAN", "jan"})
            for (const std::string year : {"2024", "24", "124", "02024"})
                for (const std::string minute : {"10:05", "10:05:00"})
                    for (const std::string zone :
                         {"+0000", "-0000", "UT", "GMT", "Z", "z", "A", "XYZT"})
                        for (const std::string gap : {" ", "\t", " \r\n ", " (c) ",
                                                      "(a (b \\) ) c,1:2+3)", "\r\n\t( )\r\n "}) {
                            std::string text =
                                gap + day + gap + "1" + gap + month + gap + year + gap;
                            for (const char c : minute)
                                text += c == ':' ? gap + ":" + gap : std::string(1, c);
                            text += gap + zone + gap;
                            wrong += date(text) == "2024-01-01T10:05:00" ? 0 : 1;
                        }
    CHECK(wrong == 0);
}

TEST_CASE("obsolete years and zones of RFC 5322 4.3", "[mime][date][torture-31]")
{
    CHECK(date("21 Nov 00 10:00:00 GMT") == "2000-11-21T10:00:00");
    CHECK(date("21 Nov 49 10:00:00 GMT") == "2049-11-21T10:00:00");
    CHECK(date("21 Nov 50 10:00:00 GMT") == "1950-11-21T10:00:00");
    CHECK(date("21 Nov 99 10:00:00 GMT") == "1999-11-21T10:00:00");
    CHECK(date("21 Nov 000 10:00:00 GMT") == "1900-11-21T10:00:00");
    CHECK(date("21 Nov 103 10:00:00 GMT") == "2003-11-21T10:00:00");
    CHECK(date("21 Nov 999 10:00:00 GMT") == "2899-11-21T10:00:00");

    const std::pair<const char*, const char*> zones[] = {
        {"EDT", "14"}, {"EST", "15"}, {"CDT", "15"}, {"CST", "16"},
        {"MDT", "16"}, {"MST", "17"}, {"PDT", "17"}, {"pst", "18"}};
    for (const auto& [zone, hour] : zones)
        CHECK(date(std::string("21 Nov 97 10:00:00 ") + zone) ==
              "1997-11-21T" + std::string(hour) + ":00:00");
    for (char zone = 'A'; zone <= 'Z'; ++zone)
        CHECK(date(std::string("21 Nov 97 10:00:00 ") + zone) == "1997-11-21T10:00:00");
    CHECK(date("Fri, 21 Nov 97 09(comment):   55  :  06 -0600") ==
          "1997-11-21T15:55:06"); // appendix A.6.2
    CHECK(date("Thu,\r\n      13\r\n        Feb\r\n          1969\r\n      23:32\r\n               "
               "-0330 (Newfoundland Time)") == "1969-02-14T03:02:00"); // appendix A.5
}

TEST_CASE("dates that break the grammar as mail does", "[mime][date][torture-31]")
{
    CHECK(date("Mon, 1 Jan 2024 10:00:00") == "2024-01-01T10:00:00");
    CHECK(date("Mon,1 Jan 2024 9:05:06+0100") == "2024-01-01T08:05:06");
    CHECK(date("Monday, 1 January 2024 10:00:00 +0000") == "2024-01-01T10:00:00");
    CHECK(date("Mon. 1 Sept. 2024, 10:00:00 +0000") == "2024-09-01T10:00:00");
    CHECK(date("Mo, 1 Jan 2024 10:00:00 +0100") == "2024-01-01T09:00:00");
    CHECK(date("Чт, 1 Jan 2024 10:00:00 +0100") == "2024-01-01T09:00:00");
    CHECK(date("Tue, 1 Jan 2024 10:00:00 +0000") == "2024-01-01T10:00:00"); // it was a Monday
    CHECK(date("Sunday, 06-Nov-94 08:49:37 GMT") == "1994-11-06T08:49:37");
    CHECK(date("Sun Nov  6 08:49:37 1994") == "1994-11-06T08:49:37");
    CHECK(date("Sun Nov  6 08:49:37 EST 1994") == "1994-11-06T13:49:37");
    CHECK(date("Sun Nov  6 08:49:37 1994 -0500") == "1994-11-06T13:49:37");
    CHECK(date("Mon Jan 01 2024 10:00:00 GMT+0200 (Central European Standard Time)") ==
          "2024-01-01T08:00:00");
    CHECK(date("Jan 1, 2024 10:05:00 PM") == "2024-01-01T22:05:00");
    CHECK(date("1 Jan 2024 12:00:00 AM -0100") == "2024-01-01T01:00:00");
    CHECK(date("1 Jan 2024 12:00:00 pm") == "2024-01-01T12:00:00");
    CHECK(date("2024-01-31T10:00:00Z") == "2024-01-31T10:00:00");
    CHECK(date("2024-01-31t10:00:00.123456-05:30") == "2024-01-31T15:30:00");
    CHECK(date("2024-01-31 10:00:00 +0100") == "2024-01-31T09:00:00");
    CHECK(date("1 Jan 2024 10:00:00.999 +0000") == "2024-01-01T10:00:00");
    CHECK(date("1 Jan 2024 10:00:00 +02:00") == "2024-01-01T08:00:00");
    CHECK(date("1 Jan 2024 10:00:00 +2") == "2024-01-01T08:00:00");
    CHECK(date("1 Jan 2024 10:00:00 +530") == "2024-01-01T04:30:00");
    CHECK(date("1 Jan 2024 10:00:00 UTC-2") == "2024-01-01T12:00:00");
    CHECK(date("1 Jan 2024 10:00:00 +0000 GMT; junk 1:2:3") == "2024-01-01T10:00:00");
    CHECK(date("1 Jan 2024 10:00:00 +0000 (UTC") == "2024-01-01T10:00:00");
}

TEST_CASE("what is no date, or out of range, is absent", "[mime][date][torture-31]")
{
    for (const char* none : {"",
                             " ",
                             "(1 Jan 2024 10:00:00 +0000)",
                             "yesterday",
                             "1 Jan 2024",
                             "Jan 2024 10:00:00",
                             "1 2024 10:00:00",
                             "1 Jan 10:00:00 +0000",
                             "10:00:00 +0000",
                             "1 Foo 2024 10:00:00 +0000",
                             "1 Ja 2024 10:00:00 +0000",
                             "1 Jan 4 10:00:00 +0000",
                             "31 Feb 2024 10:00:00 +0000",
                             "29 Feb 2023 10:00:00 +0000",
                             "31 Apr 2024 10:00:00 +0000",
                             "0 Jan 2024 10:00:00 +0000",
                             "32 Jan 2024 10:00:00 +0000",
                             "257 Jan 2024 10:00:00 +0000",
                             "2024-00-01T10:00:00Z",
                             "2024-13-01T10:00:00Z",
                             "1 Jan 2024 24:00:00 +0000",
                             "1 Jan 2024 10:60:00 +0000",
                             "1 Jan 2024 10:00:61 +0000",
                             "1 Jan 2024 010:00:00 +0000",
                             "1 Jan 2024 10:00:000 +0000",
                             "1 Jan 2024 10: +0000",
                             "1 Jan 2024 10:00: +0000",
                             "1 Jan 2024 10",
                             "1 Jan 2024 13:00:00 PM",
                             "1 Jan 2024 0:30 AM",
                             "1 Jan 2024 10:00 AM PM",
                             "1 Jan 2024 10:00:00 +",
                             "1 Jan 2024 10:00:00 +0060",
                             "1 Jan 2024 10:00:00 +01:60",
                             "1 Jan 2024 10:00:00 +01:2",
                             "1 Jan 2024 10:00:00 +02000",
                             "1 Jan 2024 10:00:00 --0500",
                             "1 Jan 2024 10:00:00 0200",
                             "1 Jan 2024 10:00:00:00 +0200",
                             "1 Jan 1899 10:00:00 +0000",
                             "1 Jan 0024 10:00:00 +0000",
                             "1 Jan 99999 10:00:00 +0000",
                             "1 Jan 65560 10:00:00 +0000", // 24 in sixteen bits
                             "1 Jan 18446744073709551640 10:00:00 +0000",
                             "31 Dec 9999 23:59:59 -0001",
                             "1/1/2024 10:00:00 +0000",
                             "1 Jan 2024\x01 10:00:00 +0000"}) {
        INFO(none);
        CHECK(date(none) == "absent");
    }
}

TEST_CASE("the date of a mail", "[mime][date][torture-31]")
{
    const auto read = testing::view_of("Date: Thu, 13 Feb\n 69 (in\n winter) 23:32 -0330\n\nx\n");
    REQUIRE(read.date);
    CHECK(to_iso8601(*read.date) == "1969-02-14T03:02:00.000Z");
    CHECK_FALSE(testing::view_of("Date: soon\n\nx\n").date);
    CHECK_FALSE(testing::view_of("Subject: x\n\nx\n").date);
}

TEST_CASE("hostile dates cost linear time and bounded stack", "[mime][date]")
{
    for (const char* unit : {"(", "(x) ", ",", "1", "1 ", "Jan ", "x", "1:", "+", "(\\", "\xff",
                             "1 Jan 2024 10:00:00 "})
        CHECK(date(repeated(unit, 200'000)) == "absent");
    CHECK(date("1 Jan 2024 10:00:00 +0000" + repeated("(", 200'000)) == "2024-01-01T10:00:00");
}
