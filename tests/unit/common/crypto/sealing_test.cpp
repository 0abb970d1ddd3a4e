#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "common/crypto/sealing.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using crypto::keyring;

namespace {

std::string key_line(const std::string& id)
{
    return id + ":" + to_base64(crypto::sha256(id)) + "\n";
}

} // namespace

TEST_CASE("what is sealed opens in its own context only", "[crypto]")
{
    const auto keys = keyring::parse(key_line("k1")).value();

    const auto sealed = keys.seal(secret("whsec_123"), "webhook 7");

    CHECK(keys.open(sealed, "webhook 7").value().reveal() == "whsec_123");
    CHECK_FALSE(keys.open(sealed, "webhook 8"));
    CHECK(sealed.rfind("k1:", 0) == 0);
    CHECK(sealed.find("whsec") == std::string::npos);
    CHECK(keys.seal(secret("whsec_123"), "webhook 7") != sealed);
    CHECK(keys.open(keys.seal(secret(""), "c"), "c").value().empty());
}

TEST_CASE("a sealed value that was altered anywhere does not open", "[crypto]")
{
    const auto keys = keyring::parse(key_line("k1")).value();
    const auto sealed = keys.seal(secret("secret"), "context");
    const auto packed = from_base64url(sealed.substr(3)).value();

    for (std::size_t at = 0; at < packed.size(); ++at) {
        auto altered = packed;
        altered[at] = static_cast<char>(altered[at] ^ 1);
        CHECK_FALSE(keys.open("k1:" + to_base64url(altered), "context"));
    }
    CHECK_FALSE(keys.open("k1:" + to_base64url(packed.substr(0, packed.size() - 1)), "context"));
    CHECK_FALSE(keys.open("k1:", "context"));
    CHECK_FALSE(keys.open("k1", "context"));
    CHECK_FALSE(keys.open("", "context"));
    CHECK_FALSE(keys.open("k1:!!!", "context"));
}

TEST_CASE("keys rotate: the first seals, all open", "[crypto]")
{
    const auto old_keys = keyring::parse(key_line("old")).value();
    const auto both = keyring::parse("# rotated\n\n" + key_line("new") + key_line("old")).value();
    const auto sealed = old_keys.seal(secret("s"), "c");

    CHECK(both.open(sealed, "c").value().reveal() == "s");
    CHECK(both.seal(secret("s"), "c").rfind("new:", 0) == 0);
    CHECK(both.current_key() == "new");
    CHECK(keyring::key_of(sealed) == "old");
    const auto unknown = old_keys.open(both.seal(secret("s"), "c"), "c");
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message, Catch::Contains("\"new\""));
}

TEST_CASE("a key file that cannot serve is refused with its line", "[crypto]")
{
    CHECK_THAT(keyring::parse(key_line("ok") + "bad\n").error().message, Catch::Contains("line 2"));
    CHECK_FALSE(keyring::parse("k:" + to_base64("too short")));
    CHECK_FALSE(keyring::parse(":" + to_base64(crypto::sha256("x"))));
    CHECK_FALSE(keyring::parse(""));
    CHECK_FALSE(keyring::parse("# only a comment\n"));
}

TEST_CASE("an id stands once, and the keys are bounded", "[crypto]")
{
    std::string many;
    for (std::size_t i = 0; i < keyring::max_keys; ++i)
        many += key_line("k" + std::to_string(i));

    CHECK(keyring::parse(many).value().ids().size() == keyring::max_keys);
    CHECK_FALSE(keyring::parse(many + key_line("one more")));
    const auto twice = keyring::parse(key_line("a") + key_line("b") + key_line("a"));
    REQUIRE_FALSE(twice);
    CHECK(twice.error().message == "line 3 repeats the id of another line");
}
