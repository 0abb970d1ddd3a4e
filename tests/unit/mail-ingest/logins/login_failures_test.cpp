#include "mail-ingest/logins/login_failures.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using mail_ingest::login_failures;

namespace {

boost::asio::ip::address at(const std::string& text)
{
    return boost::asio::ip::make_address(text);
}

const login_failures::time_point noon{std::chrono::hours(12)};

} // namespace

TEST_CASE("an address waits from its 10th failed login on, and is not looked at from the 100th",
          "[mail-ingest][logins]")
{
    login_failures failures;
    for (int i = 0; i < 9; ++i)
        CHECK(failures.note_failure(at("192.0.2.1"), "user" + std::to_string(i), noon) == 0ms);
    CHECK(failures.note_failure(at("192.0.2.1"), "user", noon) == 2s);
    CHECK(failures.note_success(at("192.0.2.1"), "own", noon) == 2s);
    CHECK(failures.note_success(at("192.0.2.2"), "own", noon) == 0ms);
    for (int i = 10; i < 100; ++i) {
        CHECK_FALSE(failures.is_refused(at("192.0.2.1"), "user", noon));
        failures.note_failure(at("192.0.2.1"), "user" + std::to_string(i), noon);
    }

    CHECK(failures.is_refused(at("192.0.2.1"), "user", noon));
    CHECK(failures.is_refused(at("::ffff:192.0.2.1"), "user", noon));
    CHECK_FALSE(failures.is_refused(at("192.0.2.2"), "user", noon));
    CHECK(failures.is_refused(at("192.0.2.1"), "user", noon + 10min));
    CHECK_FALSE(failures.is_refused(at("192.0.2.1"), "user", noon + 10min + 1s));
    CHECK(failures.note_failure(at("192.0.2.1"), "user", noon + 11min) == 0ms);
}

TEST_CASE("the /64 of an IPv6 client counts as one", "[mail-ingest][logins]")
{
    login_failures failures;
    for (int i = 0; i < 100; ++i)
        failures.note_failure(at("2001:db8::" + std::to_string(i)), "u" + std::to_string(i), noon);

    CHECK(failures.is_refused(at("2001:db8::ffff"), "user", noon));
    CHECK_FALSE(failures.is_refused(at("2001:db8:0:1::1"), "user", noon));
}

TEST_CASE("an address that logged in with this login in the last day neither waits nor is refused",
          "[mail-ingest][logins]")
{
    login_failures failures;
    failures.note_success(at("192.0.2.1"), "own", noon);
    for (int i = 0; i < 100; ++i)
        failures.note_failure(at("192.0.2.1"), "user" + std::to_string(i), noon + 23h);

    CHECK_FALSE(failures.is_refused(at("192.0.2.1"), "own", noon + 23h));
    CHECK(failures.is_refused(at("192.0.2.1"), "other", noon + 23h));
    CHECK(failures.note_failure(at("192.0.2.1"), "own", noon + 23h) == 0ms);
    CHECK(failures.note_success(at("192.0.2.1"), "own", noon + 23h) == 0ms);

    login_failures later;
    later.note_success(at("192.0.2.1"), "own", noon);
    for (int i = 0; i < 100; ++i)
        later.note_failure(at("192.0.2.1"), "user" + std::to_string(i), noon + 25h);
    CHECK(later.is_refused(at("192.0.2.1"), "own", noon + 25h));
}

TEST_CASE("from a user's 20th failure on failures wait, from whatever addresses; a good password "
          "never does",
          "[mail-ingest][logins]")
{
    login_failures failures;
    for (int i = 0; i < 19; ++i)
        CHECK(failures.note_failure(at("192.0.2." + std::to_string(i)), "own", noon) == 0ms);

    CHECK(failures.note_failure(at("198.51.100.1"), "own", noon) == 5s);
    CHECK(failures.note_failure(at("198.51.100.1"), "other", noon) == 0ms);
    CHECK(failures.note_success(at("198.51.100.2"), "own", noon) == 0ms);
    CHECK(failures.note_failure(at("198.51.100.3"), "own", noon + 11min) == 0ms);
}
