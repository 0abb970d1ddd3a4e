#include "common/crypto/password.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

const crypto::password_cost cheap(1, 8 * 1024);

} // namespace

TEST_CASE("a password is known again by its hash, which names argon2id and is never the same twice",
          "[crypto][password]")
{
    const secret password("correct horse battery");

    const auto first = crypto::hash_password(password, cheap);
    const auto second = crypto::hash_password(password, cheap);

    CHECK(first.starts_with("$argon2id$v=19$m=8,t=1,p=1$"));
    CHECK(first != second);
    CHECK(crypto::password_matches(first, password));
    CHECK(crypto::password_matches(second, password));
    CHECK_FALSE(crypto::password_matches(first, secret("correct horse batterz")));
}

TEST_CASE("a hash that cannot be read matches nothing", "[crypto][password]")
{
    for (const auto* broken :
         {"", "plain", "$argon2id$v=19$m=8,t=1,p=1$", "$2b$12$abcdefghijklmnopqrstuv"})
        CHECK_FALSE(crypto::password_matches(broken, secret(broken)));
}
