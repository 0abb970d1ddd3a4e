#include "accounts/sign_in_tokens.hpp"

#include "common/core/encoding.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::accounts;

TEST_CASE("a code has eight digits and is never to be foreseen", "[accounts][sign-up]")
{
    const auto first = make_sign_up_code();
    const auto second = make_sign_up_code();

    CHECK(first.reveal().size() == 8);
    CHECK(std::all_of(first.reveal().begin(), first.reveal().end(),
                      [](char c) { return c >= '0' && c <= '9'; }));
    CHECK(first.reveal() != second.reveal());
}

TEST_CASE("a code's digest belongs to its address", "[accounts][sign-up]")
{
    const auto digest = sign_up_code_digest("ada@example.com", "12345678");

    CHECK(digest.size() == 32);
    CHECK(digest == sign_up_code_digest("ada@example.com", "12345678"));
    CHECK(digest != sign_up_code_digest("eve@example.com", "12345678"));
    CHECK(digest != sign_up_code_digest("ada@example.com", "12345679"));
}

TEST_CASE("a session's token has 256 random bits, and its digest does not show them",
          "[accounts][session]")
{
    const auto token = make_session_token();

    CHECK(from_base64url(token.reveal())->size() == 32);
    CHECK(token.reveal() != make_session_token().reveal());
    CHECK(session_digest(token.reveal()).size() == 32);
    CHECK(session_digest(token.reveal()) != from_base64url(token.reveal()).value());
}
