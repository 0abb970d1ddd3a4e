#include "tempinboxctl/restore_settling.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

using accounts::restore;
using postgres::step_progress;

constexpr int batches_a_line = 10;

std::optional<time_point> moment_of(const restore_request& request, const database_facts& found)
{
    if (request.moment)
        return request.moment;
    if (found.noted)
        return found.noted->moment;
    // Other servers remember the end of their own recovery, too: a standby that was promoted.
    return found.server.recovered_to;
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

restore_step feeds_elsewhere_step()
{
    return step(step_status::manual, "feeds", 0,
                "are in another database: end their epochs there (docs/operations/backup.md)");
}

using batch_step = awaitable<step_progress> (*)(postgres::pool&, restore);

awaitable<step_progress> raise_sequences(postgres::pool& db, restore of)
{
    return mailbox::raise_sequences(db, std::move(of.id));
}

awaitable<step_progress> end_all_logins(postgres::pool& db, restore of)
{
    return mailbox::end_all_logins(db, std::move(of.id));
}

awaitable<step_progress> begin_epochs(postgres::pool& db, restore of)
{
    return feeds::begin_epochs(db, std::move(of.id));
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
    for (std::size_t from = 0; !progress.is_finished; from += restore_batch_size) {
        const auto to = std::min(from + restore_batch_size, lost.size());
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
        steps.push_back(step(step_status::manual, "logins", 0,
                             "none was ended (--keep-keys): logins of captures that were ended or "
                             "rotated after the moment live again as they were"));
    } else {
        const auto keys = co_await run_step(suite, of, "keys", accounts::suspend_all_keys);
        steps.push_back(
            done("keys", keys, "suspended; `tempinboxctl key activate` activates those you name"));
        const auto logins = co_await run_step(suite, of, "logins", end_all_logins);
        steps.push_back(done("logins", logins, "of captures ended; their owners make new ones"));
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

awaitable<restore_step> settle_feeds(session& suite, restore of, const database_facts& database)
{
    if (!database.feeds)
        co_return feeds_elsewhere_step();
    const auto feeds = co_await run_step(suite, of, "feeds", begin_epochs);
    co_return done("feeds", feeds, "whose next event begins an epoch");
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

} // namespace

awaitable<result<restore_report>> examine_restore(session& suite, restore_request request,
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
    steps.push_back(step(request.keeps_keys ? step_status::ok : status, "logins", database.logins,
                         request.keeps_keys ? "logins of captures stay, ended ones among them may "
                                              "live again (--keep-keys)"
                                            : "logins of captures to end"));
    steps.push_back(
        step(status, "sequences", database.inboxes,
             "inboxes whose lastSequence to raise by " + std::to_string(mailbox::sequence_gap)));
    steps.push_back(database.feeds
                        ? step(status, "feeds", *database.feeds, "feeds whose epoch to end")
                        : feeds_elsewhere_step());
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

awaitable<result<restore_report>> settle_restore(session& suite, restore_request request,
                                                 database_facts database)
{
    const auto cluster = suite.kafka();
    const bool has_offsets_left =
        request.sets_offsets && database.noted && !database.noted->offsets_set_at;
    if (database.is_settled() && !has_offsets_left)
        co_return co_await examine_restore(suite, std::move(request), std::move(database));
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
    report.steps.push_back(co_await settle_feeds(suite, *begun, database));
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

} // namespace tempinbox::ctl
