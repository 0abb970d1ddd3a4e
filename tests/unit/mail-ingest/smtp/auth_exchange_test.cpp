#include "mail-ingest/smtp/auth_exchange.hpp"

#include "common/core/encoding.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace tempinbox;
using smtp::auth_exchange;
using status = smtp::auth_exchange::status;
using namespace std::string_literals;

namespace {

auth_exchange begun(std::string_view mechanism)
{
    auto exchange = auth_exchange::begin(mechanism);
    exchange->start(std::nullopt);
    return std::move(*exchange);
}

} // namespace

TEST_CASE("two mechanisms are served, in any letter case", "[smtp]")
{
    for (const char* name : {"PLAIN", "plain", "LOGIN", "Login"})
        CHECK(auth_exchange::begin(name));
    for (const char* name : {"", "CRAM-MD5", "DIGEST-MD5", "SCRAM-SHA-256", "XOAUTH2", "NTLM",
                             "ANONYMOUS", "EXTERNAL", "PLAIN "})
        CHECK_FALSE(auth_exchange::begin(name));
}

TEST_CASE("PLAIN gives identity, user and password in one response", "[smtp]")
{
    auto exchange = begun("PLAIN");
    CHECK(exchange.challenge() == "334 ");

    REQUIRE(exchange.resume(to_base64("cap_x\0cap_x\0tic_y"s)) == status::complete);

    const auto given = exchange.take_credentials();
    CHECK(given.acts_as == "cap_x");
    CHECK(given.user == "cap_x");
    CHECK(given.password == "tic_y");
}

TEST_CASE("PLAIN may come with its response", "[smtp]")
{
    auto exchange = *auth_exchange::begin("PLAIN");

    REQUIRE(exchange.start(to_base64("\0u\0p"s)) == status::complete);

    const auto given = exchange.take_credentials();
    CHECK(given.acts_as.empty());
    CHECK(given.user == "u");
    CHECK(given.password == "p");
}

TEST_CASE("LOGIN asks for the user, unless it came, then for the password", "[smtp]")
{
    auto exchange = begun("LOGIN");
    CHECK(exchange.challenge() == "334 VXNlcm5hbWU6");
    REQUIRE(exchange.resume(to_base64("cap_x")) == status::challenge);
    CHECK(exchange.challenge() == "334 UGFzc3dvcmQ6");
    REQUIRE(exchange.resume(to_base64("tic_y")) == status::complete);
    const auto given = exchange.take_credentials();
    CHECK(given.user == "cap_x");
    CHECK(given.password == "tic_y");

    auto with_user = *auth_exchange::begin("login");
    REQUIRE(with_user.start(to_base64("cap_x")) == status::challenge);
    CHECK(with_user.challenge() == "334 UGFzc3dvcmQ6");
}

TEST_CASE("what cannot be decoded, or has other parts than it must, ends the exchange", "[smtp]")
{
    for (const auto& line :
         {""s, "="s, "!!!"s, "YWJj ZGVm"s, "YWJ"s, "YWJj="s, to_base64("no zero byte"),
          to_base64("one\0only"s), to_base64("\0u\0p\0"s), to_base64("\0u\0p\0q"s),
          to_base64("\0u\0\xff\xfe"s), to_base64("\0\xc3\0p"s), "YWJj\xc3\xa4"s}) {
        INFO(line);
        CHECK(begun("PLAIN").resume(line) == status::malformed);
    }
    for (const auto& line :
         {""s, "!!!"s, to_base64("\0"s), to_base64("us\0er"s), to_base64("\xff")})
        CHECK(begun("LOGIN").resume(line) == status::malformed);
    auto exchange = begun("LOGIN");
    exchange.resume(to_base64("user"));
    CHECK(exchange.resume(to_base64("pass\0word"s)) == status::malformed);
}

TEST_CASE("the client may cancel", "[smtp]")
{
    CHECK(begun("PLAIN").resume("*") == status::cancelled);
    auto exchange = begun("LOGIN");
    exchange.resume(to_base64("user"));
    CHECK(exchange.resume("*") == status::cancelled);
}

TEST_CASE("credentials overwrite their bytes", "[smtp]")
{
    smtp::credentials given;
    given.password = std::string(64, 'p');
    const auto* bytes = given.password.data();

    auto taken = std::move(given);
    CHECK(given.password.empty()); // NOLINT(bugprone-use-after-move)
    REQUIRE(taken.password.data() == bytes);
    wipe(taken.password);

    CHECK(taken.password.empty());
    CHECK(std::string(bytes, 64) == std::string(64, '\0'));
}
