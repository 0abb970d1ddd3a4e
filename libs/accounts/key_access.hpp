#pragma once

#include "common/core/errors.hpp"
#include "common/core/time.hpp"

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::accounts {

// What an operation of the API does. The names are `inboxes:read` and so on, in this order.
enum class scope {
    inboxes_read,
    inboxes_write,
    emails_read,
    emails_write,
    webhooks_read,
    webhooks_write,
    account_read
};
inline constexpr std::size_t scope_count = 7;

std::string_view to_string(scope named);
std::optional<scope> parse_scope(std::string_view name);
bool is_of_webhooks(scope needed);
// The names of all scopes.
const std::vector<std::string>& scope_names();

class scope_set
{
public:
    static scope_set all();
    // Names that are no scope are left out: a name from a newer release gives no rights.
    static scope_set of_names(const std::vector<std::string>& names);

    void add(scope added) { bits_.set(static_cast<std::size_t>(added)); }
    void remove(scope removed) { bits_.reset(static_cast<std::size_t>(removed)); }
    bool has(scope needed) const { return bits_.test(static_cast<std::size_t>(needed)); }
    bool is_empty() const { return bits_.none(); }
    // In the order of the scopes.
    std::vector<std::string> names() const;

    bool operator==(const scope_set&) const = default;

private:
    std::bitset<scope_count> bits_;
};

// What an API key may do, chosen when it is made. One without any of the three may do everything,
// as may a session.
struct key_access
{
    // Absent: all that the tag leaves.
    std::optional<scope_set> scopes;
    // Only inboxes with this tag exist for the key, and new ones get it. Webhooks hear of every
    // inbox, so a key with a tag has no scope of theirs.
    std::optional<std::string> tag;
    // From this moment on the key is refused like one that was revoked.
    std::optional<time_point> expires_at;

    bool is_restricted() const { return scopes || tag || expires_at; }
    bool has_expired(time_point now) const { return expires_at && *expires_at <= now; }
    // The scopes that the key has in effect.
    scope_set allowed() const;
};

// Whether a key can be made so at this moment; a failure names the field.
result<void> check_access(const key_access& access, time_point now);

} // namespace tempinbox::accounts
