#include "common/credentials/capture_login.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::credentials;

namespace {

constexpr std::string_view safe_characters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

} // namespace

TEST_CASE("a capture's user and password need no quoting anywhere", "[credentials]")
{
    const auto user = make_capture_user();
    const auto password = make_capture_password().reveal();

    CHECK(user.size() == 4 + 12);
    CHECK(user.starts_with("cap_"));
    CHECK(user.find_first_not_of(safe_characters) == std::string::npos);
    CHECK(is_capture_user(user));
    CHECK(password.size() == 4 + 32 + 6);
    CHECK(password.starts_with("tic_"));
    CHECK(password.find_first_not_of(safe_characters) == std::string::npos);
    CHECK(is_capture_password(password));
    CHECK(capture_password_digest(password).size() == 32);
}

TEST_CASE("users and passwords do not repeat, and use their whole alphabet", "[credentials]")
{
    std::set<std::string> users, passwords;
    std::set<char> characters;
    for (int i = 0; i < 1'000; ++i) {
        const auto user = make_capture_user();
        users.insert(user);
        passwords.insert(make_capture_password().reveal());
        characters.insert(user.begin() + 4, user.end());
    }

    CHECK(users.size() == 1'000);
    CHECK(passwords.size() == 1'000);
    CHECK(characters.size() == 36);
}

TEST_CASE("a password with any one character changed is refused without a look-up", "[credentials]")
{
    const auto password = make_capture_password().reveal();

    for (std::size_t i = 0; i < password.size(); ++i) {
        auto altered = password;
        altered[i] = altered[i] == 'a' ? 'b' : 'a';
        INFO(i);
        CHECK_FALSE(is_capture_password(altered));
    }
}

TEST_CASE("what is no capture's user or password is refused", "[credentials]")
{
    const auto user = make_capture_user();
    for (const auto& text :
         {std::string(), std::string("cap_"), user + "0", user.substr(0, user.size() - 1),
          "CAP_" + user.substr(4), user.substr(0, user.size() - 1) + "A", std::string(16, '\0'),
          std::string("cap_' OR 1=1--x")}) {
        INFO(text);
        CHECK_FALSE(is_capture_user(text));
    }
    const auto password = make_capture_password().reveal();
    for (const auto& text : {std::string(), std::string("tic_"), password + "0",
                             "ti_live_" + password.substr(4), std::string(42, '\0')}) {
        INFO(text.size());
        CHECK_FALSE(is_capture_password(text));
    }
}
