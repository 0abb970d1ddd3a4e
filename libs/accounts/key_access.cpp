#include "accounts/key_access.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::accounts {
namespace {

constexpr std::array<std::string_view, scope_count> names_of_scopes{
    "inboxes:read",  "inboxes:write",  "emails:read", "emails:write",
    "webhooks:read", "webhooks:write", "account:read"};

// As of an inbox's tags.
constexpr std::size_t max_tag_length = 50;

result<void> check_tag(const key_access& access)
{
    const auto& tag = *access.tag;
    const bool is_sound = is_valid_utf8(tag) && std::none_of(tag.begin(), tag.end(), [](char c) {
                              const auto byte = static_cast<unsigned char>(c);
                              return byte < 0x20 || byte == 0x7f;
                          });
    if (!is_sound || tag.empty() || count_characters(tag) > max_tag_length)
        return failure{errc::invalid_argument,
                       "tag must have 1 to 50 characters and no control characters, not " +
                           quote(tag)};
    if (!access.scopes)
        return {};
    for (const auto scope_of_webhooks : {scope::webhooks_read, scope::webhooks_write})
        if (access.scopes->has(scope_of_webhooks))
            return failure{errc::invalid_argument,
                           "scopes must not have " + std::string(to_string(scope_of_webhooks)) +
                               " if there is a tag: webhooks hear of every inbox"};
    return {};
}

} // namespace

std::string_view to_string(scope named)
{
    return names_of_scopes[static_cast<std::size_t>(named)];
}

std::optional<scope> parse_scope(std::string_view name)
{
    const auto found = std::find(names_of_scopes.begin(), names_of_scopes.end(), name);
    if (found == names_of_scopes.end())
        return std::nullopt;
    return static_cast<scope>(found - names_of_scopes.begin());
}

bool is_of_webhooks(scope needed)
{
    return needed == scope::webhooks_read || needed == scope::webhooks_write;
}

const std::vector<std::string>& scope_names()
{
    static const std::vector<std::string> names(names_of_scopes.begin(), names_of_scopes.end());
    return names;
}

scope_set scope_set::all()
{
    scope_set every;
    every.bits_.set();
    return every;
}

scope_set scope_set::of_names(const std::vector<std::string>& names)
{
    scope_set known;
    for (const auto& name : names)
        if (const auto found = parse_scope(name))
            known.add(*found);
    return known;
}

std::vector<std::string> scope_set::names() const
{
    std::vector<std::string> found;
    for (std::size_t i = 0; i < scope_count; ++i)
        if (bits_.test(i))
            found.emplace_back(names_of_scopes[i]);
    return found;
}

scope_set key_access::allowed() const
{
    auto effective = scopes.value_or(scope_set::all());
    if (tag) {
        effective.remove(scope::webhooks_read);
        effective.remove(scope::webhooks_write);
    }
    return effective;
}

result<void> check_access(const key_access& access, time_point now)
{
    if (access.scopes && access.scopes->is_empty())
        return failure{errc::invalid_argument, "scopes must have at least one of " +
                                                   join_list(scope_names()) +
                                                   "; a key without scopes may do everything"};
    if (access.tag)
        if (auto fits = check_tag(access); !fits)
            return fits;
    if (access.has_expired(now))
        return failure{errc::invalid_argument, "expiresAt must be a time in the future, not " +
                                                   to_iso8601(*access.expires_at)};
    return {};
}

} // namespace tempinbox::accounts
