#include "accounts/key_access.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");

key_access with_scopes(const std::vector<std::string>& names)
{
    key_access access;
    access.scopes = scope_set::of_names(names);
    return access;
}

std::string refusal(const key_access& access)
{
    const auto checked = check_access(access, noon);
    return checked ? "" : checked.error().message;
}

} // namespace

TEST_CASE("every scope has one name, and a name is one scope", "[accounts][key-access]")
{
    REQUIRE(scope_names().size() == scope_count);
    for (const auto& name : scope_names()) {
        const auto found = parse_scope(name);
        REQUIRE(found);
        CHECK(to_string(*found) == name);
    }
    CHECK_FALSE(parse_scope("inboxes"));
    CHECK_FALSE(parse_scope("INBOXES:READ"));
    CHECK_FALSE(parse_scope(""));
}

TEST_CASE("a key without restrictions has every scope", "[accounts][key-access]")
{
    const key_access access;

    CHECK(access.allowed() == scope_set::all());
    CHECK_FALSE(access.is_restricted());
    CHECK_FALSE(access.has_expired(noon));
}

TEST_CASE("a tag takes the scopes of webhooks away", "[accounts][key-access]")
{
    key_access access;
    access.tag = "ci";

    CHECK(access.allowed().names() == std::vector<std::string>{"inboxes:read", "inboxes:write",
                                                               "emails:read", "emails:write",
                                                               "account:read"});
}

TEST_CASE("names that are no scope give no rights", "[accounts][key-access]")
{
    const auto access = with_scopes({"emails:read", "keys:write"});

    CHECK(access.allowed().names() == std::vector<std::string>{"emails:read"});
    CHECK(with_scopes({"keys:write"}).allowed().is_empty());
}

TEST_CASE("a key has expired from its very moment on", "[accounts][key-access]")
{
    key_access access;
    access.expires_at = noon;

    CHECK_FALSE(access.has_expired(noon - std::chrono::microseconds(1)));
    CHECK(access.has_expired(noon));
}

TEST_CASE("what no key can have is refused by the name of its field", "[accounts][key-access]")
{
    CHECK(refusal(key_access()).empty());
    CHECK(refusal(with_scopes({"webhooks:read"})).empty());
    CHECK(refusal(with_scopes({})).starts_with("scopes must have at least one of inboxes:read"));

    auto tagged = with_scopes({"emails:read", "webhooks:write"});
    tagged.tag = "ci";
    CHECK(refusal(tagged).starts_with("scopes must not have webhooks:write"));
    tagged.scopes = std::nullopt;
    CHECK(refusal(tagged).empty());
    for (const std::string tag : {"", "a\nb", "\xff"}) {
        tagged.tag = tag;
        CHECK(refusal(tagged).starts_with("tag must have 1 to 50 characters"));
    }
    tagged.tag = std::string(51, 'x');
    CHECK(refusal(tagged).starts_with("tag must have 1 to 50 characters"));

    key_access ended;
    ended.expires_at = noon;
    CHECK(refusal(ended).starts_with("expiresAt must be a time in the future"));
    ended.expires_at = noon + std::chrono::milliseconds(1);
    CHECK(refusal(ended).empty());
}
