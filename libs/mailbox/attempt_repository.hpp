#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

#include "tempinbox/mailbox/v1/attempts.pb.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// How an SMTP session ended, as its server saw it.
enum class session_end {
    quit,
    dropped, // by the client, without QUIT
    closed   // by the server: a 421, a cut, a time-out
};
// The name that the schema has for it.
std::string_view to_text(session_end how);

struct attempt_key
{
    account_id account;
    inbox_id inbox;
    uuid id; // version 7, of the time it ended
};

struct new_attempt
{
    attempt_key key;
    time_point at;
    std::optional<session_end> end; // of its session, if it ended with this one
    v1::Attempt what;
};

struct ended_session
{
    attempt_key last; // attempt of it
    session_end how = session_end::quit;
};

struct stored_attempt
{
    uuid id;
    time_point at;
    std::optional<session_end> end;
    v1::Attempt what;
};

// Attempts to send mail to inboxes that have a login or faults on purpose, or are catch-alls, for
// `retention`; the newest max_attempts of an inbox are found. Throws if PostgreSQL cannot be
// reached.
class attempt_repository
{
public:
    static constexpr std::size_t max_attempts = 1'000;
    static constexpr std::chrono::hours retention{72};

    explicit attempt_repository(postgres::pool& db);

    // In one transaction, which does not wait for the disk: a crash of PostgreSQL may lose the last
    // ones. Attempts for inboxes that have ended are left out.
    awaitable<void> record(std::vector<new_attempt> attempts);
    // Deletes what these inboxes have beyond max_attempts. It reads all that they have: for inboxes
    // that got many since the last time.
    awaitable<void> trim(std::vector<std::pair<account_id, inbox_id>> inboxes);
    // Of attempts that were recorded.
    awaitable<void> note_ends(std::vector<ended_session> ends);

    // The oldest first. not_found unless the inbox is live, and has or had a login or faults or is
    // a catch-all; the text says which of both.
    awaitable<result<std::vector<stored_attempt>>> find(account_id account, inbox_id inbox);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
