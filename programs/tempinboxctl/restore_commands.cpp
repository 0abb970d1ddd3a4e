#include "tempinboxctl/command.hpp"

#include "accounts/restore.hpp"
#include "common/core/text.hpp"
#include "common/events/events.hpp"
#include "common/kafka/group_offsets.hpp"
#include "common/kafka/names.hpp"
#include "common/postgres/restore_steps.hpp"
#include "common/rpc/timestamp.hpp"
#include "mailbox/restore.hpp"
#include "tempinboxctl/restore_report.hpp"
#include "tempinboxctl/session.hpp"

#include <algorithm>
#include <set>

namespace tempinbox::ctl {
namespace {

using accounts::restore;
using postgres::step_progress;

constexpr std::int64_t default_timeout_seconds = 60;
constexpr std::int64_t default_margin_seconds = 600;
// The inbox service's setting `quarantine`.
constexpr std::int64_t default_quarantine_seconds = std::int64_t{30} * 24 * 3'600;
constexpr std::int64_t max_seconds = std::int64_t{3'650} * 24 * 3'600;
constexpr std::size_t batch_size = accounts::restore_batch_size;
static_assert(batch_size == mailbox::restore_batch_size);
constexpr int batches_a_line = 10;

struct restore_request
{
    std::optional<time_point> moment;
    std::chrono::seconds timeout{default_timeout_seconds};
    std::chrono::seconds margin{default_margin_seconds};
    std::chrono::seconds quarantine{default_quarantine_seconds};
    std::string group = events::webhook_dispatcher_group;
    std::string shown_group; // its name in Kafka
    bool keeps_keys = false;
    bool sets_offsets = false;
    bool is_dry_run = false;
    bool is_forced = false;
};

result<restore_request> read_request(const session& suite, const arguments& given, time_point now)
{
    restore_request request;
    if (const auto text = given.value("moment")) {
        request.moment = parse_iso8601(*text);
        if (!request.moment)
            return failure{errc::invalid_argument,
                           "--moment must be a time such as 2026-11-21T10:00:00.123456Z, not " +
                               quote(*text)};
        if (*request.moment > now)
            return failure{errc::invalid_argument,
                           "--moment must not lie in the future: " + quote(*text)};
    }
    const auto timeout = given.integer("timeout", 1, 3'600);
    if (!timeout)
        return timeout.error();
    request.timeout = std::chrono::seconds(timeout->value_or(default_timeout_seconds));
    const auto margin = given.integer("margin", 0, 7 * 24 * 3'600);
    if (!margin)
        return margin.error();
    request.margin = std::chrono::seconds(margin->value_or(default_margin_seconds));
    const auto quarantine = given.integer("quarantine", 1, max_seconds);
    if (!quarantine)
        return quarantine.error();
    request.quarantine = std::chrono::seconds(quarantine->value_or(default_quarantine_seconds));
    if (const auto group = given.value("group")) {
        if (group->empty() || group->size() > 249)
            return failure{errc::invalid_argument, "--group must have 1 to 249 characters"};
        request.group = *group;
    }
    request.shown_group = kafka::prefixed(suite.chosen().kafka, request.group);
    request.keeps_keys = given.has("keep-keys");
    request.sets_offsets = given.has("set-offsets");
    request.is_dry_run = given.has("dry-run");
    request.is_forced = given.has("force");
    return request;
}

// What the database says of itself.
struct database_facts
{
    postgres::restored_server server;
    std::optional<restore> noted;
    accounts::restored_accounts accounts;
    std::int64_t inboxes = 0;

    bool is_settled() const { return noted && noted->settled_at; }
};

awaitable<database_facts> read_database(session& suite)
{
    std::vector<std::string> services{"tempinbox-gateway", "tempinbox-inbox",
                                      "tempinbox-mail-ingest", "tempinbox-rate-limit",
                                      "tempinbox-webhook-dispatcher"};
    database_facts found;
    found.server = co_await postgres::read_restored_server(suite.db(), std::move(services));
    auto id = found.server.restore_id;
    found.noted = co_await accounts::find_restore(suite.db(), std::move(id));
    found.accounts = co_await accounts::count_restored_accounts(suite.db());
    found.inboxes = co_await mailbox::count_restored_inboxes(suite.db());
    co_return found;
}

std::optional<time_point> moment_of(const restore_request& request, const database_facts& found)
{
    if (request.moment)
        return request.moment;
    if (found.noted)
        return found.noted->moment;
    // Other servers remember the end of their own recovery, too: a standby that was promoted.
    return found.server.recovered_to;
}

// What Kafka's account.state knows that the database does not.
struct published_accounts
{
    std::int64_t version = 0;
    std::vector<account_id> lost;
};

awaitable<result<published_accounts>> read_account_states(session& suite, restore_request request)
{
    published_accounts found;
    std::set<account_id> lost;
    kafka::bounded_reader reader(suite.kafka(), events::topics::account_state, std::nullopt,
                                 request.timeout);
    for (;;) {
        const auto batch = reader.read(batch_size);
        if (!batch)
            co_return batch.error();
        if (batch->empty())
            break;
        std::vector<account_id> live;
        for (const auto& one : *batch) {
            const auto state = events::read_account_state(one);
            if (!state)
                continue; // the services skip it, too
            found.version = std::max(found.version, state->version);
            if (state->is_deleted)
                lost.erase(state->account);
            else
                live.push_back(state->account);
        }
        const auto unknown = co_await accounts::find_lost_accounts(suite.db(), std::move(live));
        lost.insert(unknown.begin(), unknown.end());
    }
    found.lost.assign(lost.begin(), lost.end());
    co_return found;
}

// The next inboxes that inbox.created holds; absent at its end.
result<std::optional<std::vector<mailbox::known_inbox>>> next_created(kafka::bounded_reader& reader)
{
    const auto batch = reader.read(batch_size);
    if (!batch)
        return batch.error();
    if (batch->empty())
        return std::optional<std::vector<mailbox::known_inbox>>();
    std::vector<mailbox::known_inbox> inboxes;
    for (const auto& one : *batch)
        if (const auto event = events::read_inbox_created(one))
            inboxes.emplace_back(account_id::parse(event->account_id()).value(),
                                 inbox_id::parse(event->inbox_id()).value(),
                                 event->email_address());
    return std::optional(std::move(inboxes));
}

awaitable<result<std::int64_t>> count_lost_inboxes(session& suite, restore_request request,
                                                   time_point since)
{
    std::set<inbox_id> lost;
    kafka::bounded_reader reader(suite.kafka(), events::topics::inbox_created, since,
                                 request.timeout);
    for (;;) {
        auto inboxes = next_created(reader);
        if (!inboxes)
            co_return inboxes.error();
        if (!*inboxes)
            break;
        const auto unknown = co_await mailbox::find_lost_inboxes(suite.db(), std::move(**inboxes));
        lost.insert(unknown.begin(), unknown.end());
    }
    co_return static_cast<std::int64_t>(lost.size());
}

struct published_ends
{
    std::int64_t count = 0;
    std::vector<published_end> listed;
};

std::string reason_text(events::v1::ExpiryReason reason)
{
    return reason == events::v1::EXPIRY_REASON_DELETED ? "deleted" : "ttl";
}

// Those that are live in the database.
awaitable<result<published_ends>> read_ends(session& suite, restore_request request,
                                            time_point since)
{
    published_ends found;
    std::set<inbox_id> counted; // an end may be published more than once
    kafka::bounded_reader reader(suite.kafka(), events::topics::inbox_expired, since,
                                 request.timeout);
    for (;;) {
        const auto batch = reader.read(batch_size);
        if (!batch)
            co_return batch.error();
        if (batch->empty())
            break;
        std::vector<mailbox::known_inbox> inboxes;
        std::vector<published_end> ends;
        for (const auto& one : *batch) {
            const auto event = events::read_inbox_expired(one);
            const auto envelope = events::read_envelope(one);
            if (!event || !envelope)
                continue;
            const auto id = inbox_id::parse(event->inbox_id()).value();
            inboxes.emplace_back(account_id::parse(event->account_id()).value(), id,
                                 event->email_address());
            ends.emplace_back(id, to_clean_utf8(event->email_address()),
                              reason_text(event->reason()), rpc::to_time(event->expired_at()),
                              envelope->id);
        }
        const auto live = co_await mailbox::find_live_inboxes(suite.db(), std::move(inboxes));
        for (auto& end : ends) {
            const bool is_live = std::find(live.begin(), live.end(), end.inbox) != live.end();
            if (!is_live || !counted.insert(end.inbox).second)
                continue;
            ++found.count;
            if (found.listed.size() < max_listed_ends)
                found.listed.push_back(std::move(end));
        }
    }
    co_return found;
}

std::vector<std::string> event_topics()
{
    return {events::topics::email_received, events::topics::inbox_created,
            events::topics::inbox_expired};
}

// Blocks, as nothing else runs on the loop. account.state needs no earlier offset: every state is
// published again.
result<std::vector<kafka::group_position>>
read_offsets(const kafka::settings& cluster, const restore_request& request, time_point since)
{
    auto found =
        kafka::find_group_positions(cluster, request.group, event_topics(), since, request.timeout);
    if (!found)
        return found.error();
    return positions_to_reset(std::move(*found));
}

// Blocks. Services are seen by their connections to the database, the dispatcher also by its
// membership.
result<std::vector<std::string>> find_running(const kafka::settings& cluster,
                                              const restore_request& request,
                                              const database_facts& database)
{
    auto running = database.server.sessions;
    const auto members = kafka::count_group_members(cluster, request.group, request.timeout);
    if (!members)
        return members.error();
    if (*members > 0)
        running.push_back(std::to_string(*members) + " members of group " + request.shown_group);
    return running;
}

restore_step step(step_status is, std::string name, std::int64_t count, std::string message)
{
    return {is, std::move(name), count, std::move(message)};
}

step_status todo_if(bool is_needed)
{
    return is_needed ? step_status::todo : step_status::ok;
}

restore_step ends_step(const published_ends& ends)
{
    return step(ends.count == 0 ? step_status::ok : step_status::manual, "ends", ends.count,
                "inboxes that live again though their end was published: it may be published again "
                "with a new id");
}

restore_step offsets_step(const restore_request& request, time_point since, std::size_t count,
                          const std::optional<time_point>& set_at)
{
    if (set_at)
        return step(step_status::done, "offsets", 0,
                    "of group " + request.shown_group + " were set at " + to_iso8601(*set_at));
    return step(count == 0 ? step_status::ok : step_status::manual, "offsets",
                static_cast<std::int64_t>(count),
                "set group " + request.shown_group + " back to " + to_iso8601(since) +
                    " before services start (--set-offsets does it)");
}

// What there is to settle; changes nothing.
awaitable<result<restore_report>> examine(session& suite, restore_request request,
                                          database_facts database)
{
    const auto cluster = suite.kafka();
    const auto running = find_running(cluster, request, database);
    if (!running)
        co_return running.error();
    const auto published = co_await read_account_states(suite, request);
    if (!published)
        co_return published.error();

    restore_report report;
    report.restore_id = database.server.restore_id;
    report.moment = moment_of(request, database);
    report.group = request.shown_group;
    const bool is_settled = database.is_settled();
    restore_signs signs;
    signs.timeline = database.server.timeline;
    signs.version = database.accounts.version;
    signs.published_version = published->version;
    signs.is_settled = is_settled;
    report.is_unsettled =
        !is_settled && (needs_settling(signs) || request.moment || database.noted);

    const auto status = todo_if(report.is_unsettled);
    auto& steps = report.steps;
    steps.push_back(
        is_settled
            ? step(step_status::done, "settled", 0, "at " + to_iso8601(*database.noted->settled_at))
            : step(status, "settled", 0,
                   "timeline " + std::to_string(database.server.timeline) +
                       (database.noted && database.noted->began_at
                            ? ", settling was begun at " + to_iso8601(*database.noted->began_at)
                            : ", not settled")));
    steps.push_back(
        step(running->empty() ? step_status::ok : step_status::manual, "services",
             static_cast<std::int64_t>(running->size()),
             running->empty() ? "none is running" : "stop them first: " + join_list(*running)));
    steps.push_back(step(
        todo_if(!is_settled && signs.published_version > signs.version), "version", signs.version,
        "accounts.changes; account.state holds up to " + std::to_string(signs.published_version)));
    if (is_settled)
        co_return report;

    steps.push_back(
        step(status, "states", database.accounts.accounts, "accounts to publish again"));
    steps.push_back(step(todo_if(!published->lost.empty()), "lost accounts",
                         static_cast<std::int64_t>(published->lost.size()),
                         "accounts that only account.state knows: a tombstone each"));
    steps.push_back(step(status, "sessions", database.accounts.sessions,
                         "sessions, mailed links and codes to end"));
    steps.push_back(step(request.keeps_keys ? step_status::ok : status, "keys",
                         database.accounts.keys,
                         request.keeps_keys ? "live keys stay, revoked ones among them may live "
                                              "again (--keep-keys)"
                                            : "live keys to suspend"));
    steps.push_back(
        step(status, "sequences", database.inboxes,
             "inboxes whose lastSequence to raise by " + std::to_string(mailbox::sequence_gap)));
    if (!report.moment) {
        steps.push_back(
            step(status, "moment", 0, "unknown: addresses, ends and offsets need --moment"));
        co_return report;
    }

    const auto since = *report.moment - request.margin;
    const auto lost_inboxes = co_await count_lost_inboxes(suite, request, since);
    if (!lost_inboxes)
        co_return lost_inboxes.error();
    steps.push_back(step(todo_if(*lost_inboxes > 0), "addresses", *lost_inboxes,
                         "inboxes that only inbox.created knows: addresses to quarantine"));
    auto ends = co_await read_ends(suite, request, since);
    if (!ends)
        co_return ends.error();
    steps.push_back(ends_step(*ends));
    report.ends = std::move(ends->listed);
    auto offsets = read_offsets(cluster, request, since);
    if (!offsets)
        co_return offsets.error();
    steps.push_back(offsets_step(request, since, offsets->size(),
                                 database.noted ? database.noted->offsets_set_at
                                                : std::optional<time_point>()));
    report.offsets = std::move(*offsets);
    report.is_unsettled = report.is_unsettled || *lost_inboxes > 0;
    co_return report;
}

using batch_step = awaitable<step_progress> (*)(postgres::pool&, restore);

awaitable<step_progress> raise_sequences(postgres::pool& db, restore of)
{
    return mailbox::raise_sequences(db, std::move(of.id));
}

// Batch by batch, with a line now and then.
awaitable<step_progress> run_step(session& suite, restore of, std::string name, batch_step batch)
{
    step_progress progress;
    for (int batches = 1; !progress.is_finished; ++batches) {
        progress = co_await batch(suite.db(), of);
        if (progress.is_finished || batches % batches_a_line == 0)
            suite.print_line(name + ": " + std::to_string(progress.rows) +
                             (progress.is_finished ? ", finished" : ""));
    }
    co_return progress;
}

awaitable<step_progress> publish_lost(session& suite, restore of, std::vector<account_id> lost)
{
    step_progress progress;
    for (std::size_t from = 0; !progress.is_finished; from += batch_size) {
        const auto to = std::min(from + batch_size, lost.size());
        std::vector<account_id> batch(lost.begin() + static_cast<std::ptrdiff_t>(from),
                                      lost.begin() + static_cast<std::ptrdiff_t>(to));
        progress = co_await accounts::publish_lost_accounts(suite.db(), of, std::move(batch),
                                                            to == lost.size());
    }
    suite.print_line("lost accounts: " + std::to_string(progress.rows) + ", finished");
    co_return progress;
}

awaitable<result<step_progress>> quarantine_lost(session& suite, restore_request request,
                                                 restore of)
{
    kafka::bounded_reader reader(suite.kafka(), events::topics::inbox_created,
                                 of.moment - request.margin, request.timeout);
    step_progress progress;
    while (!progress.is_finished) {
        auto inboxes = next_created(reader);
        if (!inboxes)
            co_return inboxes.error();
        const bool is_last = !*inboxes;
        auto batch = is_last ? std::vector<mailbox::known_inbox>() : std::move(**inboxes);
        auto id = of.id;
        progress = co_await mailbox::quarantine_lost(suite.db(), std::move(id), std::move(batch),
                                                     request.quarantine, is_last);
    }
    suite.print_line("addresses: " + std::to_string(progress.rows) + ", finished");
    co_return progress;
}

restore_step done(const std::string& name, const step_progress& progress, std::string message)
{
    return step(step_status::done, name, progress.rows, std::move(message));
}

// What settles the rows of the database; each step may have been done by an earlier run.
awaitable<result<void>> settle_rows(session& suite, restore_request request, restore of,
                                    std::vector<account_id> lost, std::vector<restore_step>& steps)
{
    steps.push_back(step(step_status::done, "version", of.version,
                         "accounts.changes is above what account.state held"));
    const auto states = co_await run_step(suite, of, "states", accounts::republish_states);
    steps.push_back(
        done("states", states, "accounts; gateways publish their states once they run"));
    const auto tombstones = co_await publish_lost(suite, of, std::move(lost));
    steps.push_back(
        done("lost accounts", tombstones, "that only account.state knew: a tombstone each"));
    const auto sessions = co_await run_step(suite, of, "sessions", accounts::end_all_sessions);
    steps.push_back(done("sessions", sessions, "sessions, mailed links and codes ended"));
    if (of.keeps_keys) {
        steps.push_back(step(step_status::manual, "keys", 0,
                             "none was suspended (--keep-keys): keys that were revoked after the "
                             "moment live again, revoke them anew"));
    } else {
        const auto keys = co_await run_step(suite, of, "keys", accounts::suspend_all_keys);
        steps.push_back(
            done("keys", keys, "suspended; `tempinboxctl key activate` activates those you name"));
    }
    const auto sequences = co_await run_step(suite, of, "sequences", raise_sequences);
    steps.push_back(
        done("sequences", sequences,
             "inboxes: lastSequence was raised by " + std::to_string(mailbox::sequence_gap)));
    const auto addresses = co_await quarantine_lost(suite, request, of);
    if (!addresses)
        co_return addresses.error();
    steps.push_back(
        done("addresses", *addresses, "quarantined: only inbox.created knew of their inboxes"));
    co_return result<void>();
}

awaitable<result<void>> settle_offsets(session& suite, restore_request request, restore of,
                                       restore_report& report)
{
    const auto cluster = suite.kafka();
    const auto since = of.moment - request.margin;
    auto offsets = read_offsets(cluster, request, since);
    if (!offsets)
        co_return offsets.error();
    const bool sets = request.sets_offsets && !of.offsets_set_at;
    if (sets) {
        const auto set =
            kafka::set_group_positions(cluster, request.group, *offsets, request.timeout);
        if (!set)
            co_return set.error();
        auto id = of.id;
        co_await accounts::note_offsets_set(suite.db(), std::move(id));
        report.steps.push_back(
            step(step_status::done, "offsets", static_cast<std::int64_t>(offsets->size()),
                 "of group " + request.shown_group + " were set back to " + to_iso8601(since)));
    } else {
        report.steps.push_back(offsets_step(request, since, offsets->size(), of.offsets_set_at));
    }
    if (!of.offsets_set_at)
        report.offsets = std::move(*offsets);
    co_return result<void>();
}

result<void> check_services(const kafka::settings& cluster, const restore_request& request,
                            const database_facts& database)
{
    const auto running = find_running(cluster, request, database);
    if (!running)
        return running.error();
    if (!running->empty())
        return failure{errc::conflict, "services run: " + join_list(*running) +
                                           ". Stop all services first; nothing was changed"};
    return {};
}

// Nothing is changed unless all of it may be.
result<void> check_signs(const restore_request& request, const database_facts& database,
                         const published_accounts& published)
{
    restore_signs signs;
    signs.timeline = database.server.timeline;
    signs.version = database.accounts.version;
    signs.published_version = published.version;
    if (needs_settling(signs) || database.noted || request.is_forced)
        return {};
    return failure{errc::conflict,
                   "nothing says that this database was restored: its timeline is 1, and "
                   "accounts.changes is not behind account.state. --force settles it all the same, "
                   "as for a dump that was loaded. Nothing was changed"};
}

awaitable<result<restore_report>> settle(session& suite, restore_request request,
                                         database_facts database)
{
    const auto cluster = suite.kafka();
    const bool has_offsets_left =
        request.sets_offsets && database.noted && !database.noted->offsets_set_at;
    if (database.is_settled() && !has_offsets_left)
        co_return co_await examine(suite, std::move(request), std::move(database));
    if (const auto stopped = check_services(cluster, request, database); !stopped)
        co_return stopped.error();
    const auto moment = moment_of(request, database);
    if (!moment)
        co_return failure(errc::invalid_argument,
                          "--moment is needed: the server does not remember to which moment it "
                          "was restored (recovery_target_time)");
    auto published = co_await read_account_states(suite, request);
    if (!published)
        co_return published.error();
    if (const auto restored = check_signs(request, database, *published); !restored)
        co_return restored.error();

    restore requested;
    requested.id = database.server.restore_id;
    requested.moment = *moment;
    requested.keeps_keys =
        request.keeps_keys || (database.is_settled() && database.noted->keeps_keys);
    const auto begun =
        co_await accounts::begin_restore(suite.db(), std::move(requested), published->version);
    if (!begun)
        co_return begun.error();

    restore_report report;
    report.restore_id = begun->id;
    report.moment = begun->moment;
    report.group = request.shown_group;
    const auto rows =
        co_await settle_rows(suite, request, *begun, std::move(published->lost), report.steps);
    if (!rows)
        co_return rows.error();
    auto ends = co_await read_ends(suite, request, begun->moment - request.margin);
    if (!ends)
        co_return ends.error();
    report.steps.push_back(ends_step(*ends));
    report.ends = std::move(ends->listed);
    const auto offsets = co_await settle_offsets(suite, request, *begun, report);
    if (!offsets)
        co_return offsets.error();
    auto id = begun->id;
    co_await accounts::note_settled(suite.db(), std::move(id));
    co_return report;
}

awaitable<result<command_result>> run_check(session& suite, arguments given)
{
    const auto request = read_request(suite, given, suite.host().clock().now());
    if (!request)
        co_return request.error();
    auto database = co_await read_database(suite);
    const auto report = co_await examine(suite, *request, std::move(database));
    if (!report)
        co_return report.error();
    co_return to_result(*report);
}

awaitable<result<command_result>> run_settle(session& suite, arguments given)
{
    const auto request = read_request(suite, given, suite.host().clock().now());
    if (!request)
        co_return request.error();
    auto database = co_await read_database(suite);
    auto report = request->is_dry_run ? co_await examine(suite, *request, std::move(database))
                                      : co_await settle(suite, *request, std::move(database));
    if (!report)
        co_return report.error();
    report->is_unsettled = false;
    co_return to_result(*report);
}

void add_options(command& to)
{
    to.options.emplace_back("moment", "TIME",
                            "the moment of the restore (recovery_target_time); without it what "
                            "the server remembers until its next start",
                            option::kind::optional);
    to.options.emplace_back("margin", "SECONDS",
                            "how long before the moment events are read again and offsets are set "
                            "back, by default 600: more than the consumers were behind",
                            option::kind::optional);
    to.options.emplace_back("group", "NAME",
                            "the dispatcher's consumer group, without kafka-prefix, by default "
                            "tempinbox-webhook-dispatcher",
                            option::kind::optional);
    to.options.emplace_back("timeout", "SECONDS", "how long Kafka may be silent, by default 60",
                            option::kind::optional);
    to.options.push_back(json_flag());
}

} // namespace

std::vector<command> restore_commands()
{
    std::vector<command> commands;

    auto& checking = commands.emplace_back(
        "restore check",
        "Says what a restore of the database left to settle; changes nothing, exit code 1 if "
        "something is left");
    add_options(checking);
    checking.run = run_check;

    auto& settling = commands.emplace_back(
        "restore settle",
        "Settles a database that was restored to an earlier moment, before its services start: "
        "versions, account states, sessions, keys, sequences, addresses; again without harm");
    add_options(settling);
    settling.options.emplace_back("set-offsets", "",
                                  "sets the offsets of the dispatcher's group back, too; without "
                                  "it they are only listed",
                                  option::kind::flag);
    settling.options.emplace_back("keep-keys", "",
                                  "suspends no API key: keys that were revoked after the moment "
                                  "live again",
                                  option::kind::flag);
    settling.options.emplace_back("quarantine", "SECONDS",
                                  "how long lost addresses stay with their owners, by default 30 "
                                  "days: the inbox service's setting quarantine",
                                  option::kind::optional);
    settling.options.emplace_back("dry-run", "", "changes nothing; says what there is to do",
                                  option::kind::flag);
    settling.options.emplace_back("force", "",
                                  "settles a database although nothing says that it was restored",
                                  option::kind::flag);
    settling.run = run_settle;
    return commands;
}

} // namespace tempinbox::ctl
