#include "accounts/api_key.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::accounts;

TEST_CASE("a new key has the form that users know", "[accounts][api_key]")
{
    const auto key = make_api_key().reveal();

    CHECK(key.size() == 8 + 32 + 6);
    CHECK(key.substr(0, 8) == "ti_live_");
    CHECK(key.substr(8).find_first_not_of(
              "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
          std::string::npos);
    CHECK(is_well_formed_api_key(key));
    CHECK(api_key_prefix(key) == key.substr(0, 12));
}

TEST_CASE("keys do not repeat, and use the whole alphabet", "[accounts][api_key]")
{
    std::set<std::string> keys;
    std::set<char> characters;
    for (int i = 0; i < 1'000; ++i) {
        const auto key = make_api_key().reveal();
        keys.insert(key);
        characters.insert(key.begin() + 8, key.end() - 6);
    }

    CHECK(keys.size() == 1'000);
    CHECK(characters.size() == 62);
}

TEST_CASE("a key with any one character changed is refused without a look-up",
          "[accounts][api_key]")
{
    const auto key = make_api_key().reveal();

    for (std::size_t i = 0; i < key.size(); ++i) {
        auto altered = key;
        altered[i] = altered[i] == 'a' ? 'b' : 'a';
        INFO(altered);
        CHECK_FALSE(is_well_formed_api_key(altered));
    }
}

TEST_CASE("what is no key at all is refused", "[accounts][api_key]")
{
    const auto key = make_api_key().reveal();
    const std::string shapes[] = {"",
                                  "x",
                                  "ti_live_",
                                  key + "0",
                                  key.substr(0, key.size() - 1),
                                  " " + key.substr(1),
                                  "ti_test_" + key.substr(8),
                                  std::string(46, '\0'),
                                  std::string(46, '\xff'),
                                  std::string(100'000, 'a')};

    for (const auto& shape : shapes)
        CHECK_FALSE(is_well_formed_api_key(shape));
}

TEST_CASE("the stored digest is SHA-256", "[accounts][api_key]")
{
    const auto digest = api_key_digest("abc");

    CHECK(digest.size() == 32);
    CHECK(static_cast<unsigned char>(digest[0]) == 0xba); // FIPS 180-2, B.1
    CHECK(static_cast<unsigned char>(digest[31]) == 0xad);
}
