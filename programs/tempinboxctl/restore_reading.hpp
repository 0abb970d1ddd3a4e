#pragma once

#include "accounts/restore.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/events/events.hpp"
#include "common/kafka/group_offsets.hpp"
#include "common/postgres/restore_steps.hpp"
#include "feeds/restore.hpp"
#include "mailbox/restore.hpp"
#include "tempinboxctl/restore_report.hpp"
#include "tempinboxctl/session.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What PostgreSQL and Kafka say of a restore. Changes nothing. Reading Kafka blocks, as nothing
// else runs on the loop; whoever does not answer in time is a failure.
namespace tempinbox::ctl {

// Rows and records read or written at a time.
constexpr std::size_t restore_batch_size = accounts::restore_batch_size;
static_assert(restore_batch_size == mailbox::restore_batch_size);
static_assert(restore_batch_size == feeds::restore_batch_size);

// What `restore check` and `restore settle` were asked for.
struct restore_request
{
    std::optional<time_point> moment;
    std::chrono::seconds timeout{60};
    std::chrono::seconds margin{600};
    std::chrono::seconds quarantine{std::int64_t{30} * 24 * 3'600}; // the inbox service's setting
    std::string group = events::webhook_dispatcher_group;
    std::string shown_group; // its name in Kafka
    bool keeps_keys = false;
    bool sets_offsets = false;
    bool is_dry_run = false;
    bool is_forced = false;
};

// What the database says of itself.
struct database_facts
{
    postgres::restored_server server;
    std::optional<accounts::restore> noted;
    accounts::restored_accounts accounts;
    std::int64_t inboxes = 0;
    std::int64_t logins = 0;           // of captures, live
    std::optional<std::int64_t> feeds; // absent: in a database of their own

    bool is_settled() const { return noted && noted->settled_at; }
};

awaitable<database_facts> read_database(session& suite);

// What Kafka's account.state knows that the database does not.
struct published_accounts
{
    std::int64_t version = 0;
    std::vector<account_id> lost;
};

awaitable<result<published_accounts>> read_account_states(session& suite, restore_request request);

// The next inboxes that inbox.created holds; absent at its end.
result<std::optional<std::vector<mailbox::known_inbox>>>
next_created(kafka::bounded_reader& reader);

// Inboxes that inbox.created holds and the database does not.
awaitable<result<std::int64_t>> count_lost_inboxes(session& suite, restore_request request,
                                                   time_point since);

// Ends that were published, of inboxes that are live in the database.
struct published_ends
{
    std::int64_t count = 0;
    std::vector<published_end> listed; // up to max_listed_ends
};

awaitable<result<published_ends>> read_ends(session& suite, restore_request request,
                                            time_point since);

// Those of the dispatcher's group to set back. account.state needs no earlier offset: every state
// is published again.
result<std::vector<kafka::group_position>>
read_offsets(const kafka::settings& cluster, const restore_request& request, time_point since);

// Services are seen by their connections to the database, the dispatcher also by its membership.
result<std::vector<std::string>> find_running(const kafka::settings& cluster,
                                              const restore_request& request,
                                              const database_facts& database);

} // namespace tempinbox::ctl
