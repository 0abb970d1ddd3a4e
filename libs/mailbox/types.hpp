#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "extract/codes.hpp"
#include "mailbox/email_summary.hpp"
#include "mailbox/header_addresses.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

inline constexpr const char* schema = "mailbox";
// The newest file in libs/mailbox/schema that the code needs.
inline constexpr int schema_version = 19;

// The expiry of an inbox without end (postmaster, abuse): 9999-12-31T00:00:00Z.
inline constexpr time_point endless{std::chrono::seconds{253'402'214'400}};

// The login of an inbox, as its account sees it.
struct capture_login
{
    std::string user;
    time_point created_at;
    std::optional<time_point> last_used_at; // within the hour
    // Until then the password before the last rotation is good; may be past.
    std::optional<time_point> previous_until;
};

// How long an inbox keeps mail, and what it does when it is full.
struct retention_policy
{
    std::optional<std::chrono::seconds> max_age; // of an email; absent: that of the inbox
    bool drops_oldest = false; // the oldest mail goes before the inbox is full; else new is refused

    friend bool operator==(const retention_policy&, const retention_policy&) = default;
};

// An inbox as its account sees it. Whether it is live is decided by the database's clock: a due one
// has ended even before it is marked.
struct inbox
{
    account_id account;
    inbox_id id;
    std::string address;
    std::optional<std::string> name;
    std::vector<std::string> tags;
    std::map<std::string, std::string> metadata;
    bool is_live = true;
    std::int64_t email_count = 0;
    std::int64_t email_bytes = 0;
    std::int64_t last_sequence = 0;
    std::optional<time_point> last_email_at;
    time_point created_at;
    time_point expires_at;
    std::optional<time_point> expired_at;
    std::int64_t state_version = 1; // of what inbox.state reports
    retention_policy retention;
    bool renews_on_use = false;
    std::optional<capture_login> login;
};

enum class expiry_reason { ttl, deleted };

// What an inbox may hold before new mail is refused. Zero: no bound.
struct inbox_bounds
{
    std::int64_t emails = 10'000;
    std::int64_t bytes = 1024 * 1024 * 1024;

    bool are_reached(std::int64_t held_emails, std::int64_t held_bytes) const
    {
        return (emails > 0 && held_emails >= emails) || (bytes > 0 && held_bytes >= bytes);
    }
};

// Where the message of an email is stored.
struct body_key
{
    account_id account;
    body_id id;
    time_point hour;
};

// What reading an email's message takes.
struct message_location
{
    body_key body;
    std::int64_t size = 0; // of the message
};

// A whole email: what was extracted before its commit, and the message as received.
struct stored_email
{
    email_summary summary;
    std::optional<header_addresses> addresses; // absent: stored by an earlier release
    std::optional<std::string> message_id;
    std::string mail_from;
    std::string remote_address;
    std::string helo;
    std::optional<std::string> tls;
    std::optional<std::string> login; // the user, if it was sent with one
    std::vector<extract::link> links;
    std::vector<std::string> defects;
    bool is_to_several_inboxes = false; // its SMTP transaction had recipients in other inboxes too
    std::string inbox_address;
    body_key body;
    std::string raw;
};

// How an email came.
struct email_arrival
{
    inbox_id inbox;
    time_point received_at; // when the whole message was there
    std::int64_t size = 0;
    std::vector<std::string> rcpt_to;
    std::string mail_from;
    std::string remote_address;
    std::string helo;
    std::optional<std::string> tls;
    std::optional<std::string> login; // the user, if it was sent with one
    // When it was committed, while its event waits to be published; then that time is gone.
    std::optional<time_point> unpublished_since;
};

// A page of a list, in its order, and where the next page starts (empty: no more).
template <class T>
struct page
{
    std::vector<T> items;
    std::string next_cursor;
};

struct email_page : page<email_summary>
{
    std::string
        version;  // of its inbox (email_repository::find_versions); empty for a list over all
    int rows = 0; // looked at, up to where the next page starts
    std::optional<time_point> back_to; // when the last of them was received

    // Of each item where the filter looks at messages.
    struct candidate
    {
        message_location message;
        int rows = 0; // looked at, up to this item
    };
    std::vector<candidate> candidates;
};

} // namespace tempinbox::mailbox
