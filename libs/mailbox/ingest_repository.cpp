#include "mailbox/ingest_repository.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/events/events.hpp"
#include "common/log/log.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/composite_type.hpp"
#include "common/postgres/session.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>
#include <numeric>
#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

using postgres::binary_array;
using postgres::column;

constexpr std::chrono::seconds resolve_timeout{20};
constexpr std::chrono::milliseconds resolve_interval{200};

constexpr postgres::statement store_mail{"mailbox_store_mail", R"(
    SELECT ordinal, outcome, sequence, email
    FROM mailbox.store_mail($1, $2, $3, $4, $5, $6))"};

// Waits for the rows' lock, and so for the end of a transaction whose connection was lost.
constexpr postgres::statement lock_inboxes{"mailbox_lock_inboxes", R"(
    SELECT 1 FROM mailbox.inboxes
    WHERE (account_id, inbox_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
    ORDER BY inbox_id FOR UPDATE)"};

constexpr postgres::statement write_rejections{"mailbox_note_rejections",
                                               "SELECT mailbox.note_rejections($1, $2) AS noted"};

constexpr postgres::statement find_emails{"mailbox_find_stored", R"(
    SELECT email_id, sequence FROM mailbox.emails
    WHERE (account_id, email_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])))"};

// A batch as the parameters of store_mail.
struct parameters
{
    binary_array deliveries, messages, raw{postgres::binary_format<postgres::bytea>::oid};

    parameters(pqxx::transaction_base& tx, const mail_batch& batch)
        : deliveries(postgres::composite_oid(tx, "mailbox.new_delivery")),
          messages(postgres::composite_oid(tx, "mailbox.new_message"))
    {
        std::int32_t ordinal = 0;
        for (const auto& message : batch)
            add(*message, ++ordinal);
    }

private:
    void add(const new_message& message, std::int32_t ordinal)
    {
        std::apply([this](const auto&... field) { messages.add_row(field...); }, message.fields());
        raw.add(postgres::bytea{message.frame});
        for (const auto& delivery : message.deliveries)
            deliveries.add_row(ordinal, delivery.account, delivery.inbox, delivery.id,
                               delivery.rcpt_to, outbox::to_text(delivery.event.message.headers),
                               postgres::bytea{delivery.event.message.value});
    }
};

// The outcomes of mailbox.store_mail.
delivery_status parse_status(std::string_view text)
{
    if (text == "stored")
        return delivery_status::stored;
    if (text == "repeated")
        return delivery_status::repeated;
    if (text == "full")
        return delivery_status::full;
    if (text == "full_for_now")
        return delivery_status::full_for_now;
    if (text == "gone")
        return delivery_status::gone;
    throw std::runtime_error("mailbox.store_mail returned the unknown outcome " + quote(text));
}

std::vector<stored_message> read_results(const mail_batch& batch, const pqxx::result& rows)
{
    std::vector<stored_message> stored;
    pqxx::result::size_type index = 0;
    for (const auto& message : batch) {
        std::vector<delivery_result> results;
        for (const auto& delivery : message->deliveries) {
            const auto row = rows.at(index++);
            delivery_result result;
            result.status = parse_status(column<std::string>(row, "outcome"));
            result.email = delivery.id;
            if (result.status == delivery_status::repeated)
                result.email = column<email_id>(row, "email");
            if (result.status == delivery_status::stored ||
                result.status == delivery_status::repeated)
                result.sequence = column<std::int64_t>(row, "sequence");
            results.push_back(result);
        }
        stored.emplace_back(std::move(results));
    }
    return stored;
}

std::vector<delivery_result> all_unstorable(const new_message& message)
{
    std::vector<delivery_result> results;
    results.reserve(message.deliveries.size());
    for (const auto& delivery : message.deliveries)
        results.push_back(delivery_result{delivery_status::unstorable, 0, delivery.id});
    return results;
}

// Leaves out the lines after the first: they quote mail.
std::string_view first_line(std::string_view error)
{
    return error.substr(0, error.find('\n'));
}

// Inserts emails that match `which`. The condition is part of the text, so that each one has a plan
// of its own that uses an index.
std::string marking(const std::string& which)
{
    return "INSERT INTO mailbox.unacknowledged_emails (account_id, inbox_id, email_id, sequence, "
           "mail_from, rcpt_to, content_sha256, until)"
           " SELECT account_id, inbox_id, email_id, sequence, mail_from, rcpt_to, content_sha256, "
           "received_at + interval '10 minutes'"
           " FROM mailbox.emails WHERE " +
           which + " AND message_id IS NOT NULL ON CONFLICT DO NOTHING";
}

const std::string mark_emails =
    marking("(account_id, email_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))");
const std::string mark_since = marking("email_id >= $1");

// $2: true at start, when an entry of this very name means a crash; else that entry is this
// process.
constexpr const char* take_crashed = R"(
    DELETE FROM mailbox.ingest_runs
    WHERE CASE WHEN replica = $1 THEN $2::boolean
               ELSE alive_at < clock_timestamp() - interval '30 seconds' END
    RETURNING mailbox.lowest_uuid(
        greatest(alive_at - interval '1 minute', clock_timestamp() - interval '10 minutes')) AS since)";

constexpr const char* show_alive = R"(
    INSERT INTO mailbox.ingest_runs (replica, alive_at) VALUES ($1, clock_timestamp())
    ON CONFLICT (replica) DO UPDATE SET alive_at = excluded.alive_at)";

constexpr const char* purge_expired = R"(
    DELETE FROM mailbox.unacknowledged_emails WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM mailbox.unacknowledged_emails WHERE until < clock_timestamp()
        ORDER BY until LIMIT 20000 FOR UPDATE SKIP LOCKED)))";

// A busy minute has many emails to mark.
constexpr const char* long_statement_timeout = "SET LOCAL statement_timeout = '30s'";

void show(pqxx::work& tx, const std::string& replica, bool begins)
{
    std::string since;
    for (const auto& row : tx.exec_params(take_crashed, replica, begins))
        since = since.empty() ? row["since"].c_str()
                              : std::min<std::string>(since, row["since"].c_str());
    // Mark all mail since the earliest crash.
    if (!since.empty()) {
        tx.exec0(long_statement_timeout);
        tx.exec_params(mark_since, since);
    }
    tx.exec_params(show_alive, replica);
}

} // namespace

std::size_t new_message::held_bytes() const
{
    const auto total = [](const std::vector<std::string>& texts) {
        return std::accumulate(
            texts.begin(), texts.end(), std::size_t{0},
            [](std::size_t sum, const std::string& text) { return sum + text.size(); });
    };
    std::size_t bytes = frame.size() + codes.size() + links.size() + preview.size() + from.size() +
                        subject.size() + header_addresses.size();
    for (const auto& delivery : deliveries) {
        bytes += total(delivery.rcpt_to) + delivery.event.message.value.size();
        for (const auto& [name, value] : delivery.event.message.headers)
            bytes += name.size() + value.size();
    }
    return bytes;
}

ingest_repository::ingest_repository(runtime::host& host, postgres::pool& db, inbox_bounds bounds)
    : host_(host),
      db_(db),
      bounds_(bounds),
      unstorable_(host.metrics().counter(
          "tempinbox_mail_ingest_unstorable_messages_total",
          "Messages whose data PostgreSQL rejected permanently: answered with 554"))
{
    db_.prepare(store_mail);
    db_.prepare(lock_inboxes);
    db_.prepare(find_emails);
    db_.prepare(write_rejections);
}

awaitable<std::vector<stored_message>> ingest_repository::store(mail_batch batch)
{
    auto stored = std::make_shared<results>();
    auto status = co_await attempt(batch, stored);
    if (status == attempt_status::try_again)
        status = co_await attempt(batch, stored);
    if (status == attempt_status::unknown) {
        co_await resolve(batch, stored);
        co_return std::move(*stored);
    }
    const bool is_refused = status == attempt_status::refused || status == attempt_status::bad_data;
    if (is_refused && batch.size() > 1) {
        // One of them is at fault: store each alone, so that only that one fails.
        results all;
        for (const auto& message : batch) {
            mail_batch alone{message};
            auto result = co_await store(std::move(alone));
            all.push_back(std::move(result.front()));
        }
        co_return all;
    }
    stored->resize(batch.size());
    if (status == attempt_status::bad_data)
        stored->front() = all_unstorable(*batch.front());
    co_return std::move(*stored);
}

awaitable<ingest_repository::attempt_status>
ingest_repository::attempt(const mail_batch& batch, std::shared_ptr<results> stored)
{
    stored->clear();
    try {
        co_await run_statement(batch, stored);
        co_return attempt_status::stored;
    } catch (const postgres::commit_unknown& error) {
        log::warning("connection lost while mail was stored",
                     {{"error", error.what()}, {"messages", batch.size()}});
        co_return attempt_status::unknown;
    } catch (const postgres::timed_out& error) {
        log::warning("storing mail timed out", {{"error", error.what()}});
        co_return attempt_status::try_again;
    } catch (const dependency_error& error) {
        log::warning("mail cannot be stored", {{"error", error.what()}});
        co_return attempt_status::unavailable;
    } catch (const pqxx::deadlock_detected&) {
        co_return attempt_status::try_again;
    } catch (const pqxx::serialization_failure&) {
        co_return attempt_status::try_again;
    } catch (const pqxx::check_violation&) {
        // The hour had no partition; it was created while the body was on its way to the default
        // one.
        co_return attempt_status::try_again;
    } catch (const pqxx::data_exception& error) {
        if (batch.size() == 1)
            note_unstorable(*batch.front(), error.sqlstate(), first_line(error.what()));
        co_return attempt_status::bad_data;
    } catch (const std::exception& error) {
        log::error("PostgreSQL refused mail",
                   {{"error", first_line(error.what())}, {"messages", batch.size()}});
        co_return attempt_status::refused;
    }
}

void ingest_repository::note_unstorable(const new_message& message, std::string_view sqlstate,
                                        std::string_view reason)
{
    unstorable_.Increment();
    const auto& first = message.deliveries.front();
    log::error("message cannot be stored, rejected permanently",
               {{"sqlstate", sqlstate},
                {"error", reason},
                {"email_id", first.id.text()},
                {"inbox_id", first.inbox.text()},
                {"message_id", message.message_id.value_or("")},
                {"sha256", to_hex(message.sha256)},
                {"size_bytes", message.size},
                {"inboxes", message.deliveries.size()},
                {"remote_ip", message.remote_address}});
}

awaitable<void> ingest_repository::run_statement(const mail_batch& batch,
                                                 std::shared_ptr<results> stored)
{
    return db_.run([batch, stored, owner = host_.instance(),
                    bounds = bounds_](pqxx::connection& connection) {
        pqxx::nontransaction statement(connection);
        const parameters arrays(statement, batch);
        const auto rows = postgres::exec_prepared(
            statement, store_mail.name, arrays.deliveries.parameter(), arrays.messages.parameter(),
            arrays.raw.parameter(), owner, bounds.emails, bounds.bytes);
        *stored = read_results(batch, rows);
    });
}

// Waits for the lost transaction to end; then the email ids show whether it committed.
awaitable<void> ingest_repository::resolve(const mail_batch& batch, std::shared_ptr<results> stored)
{
    const auto deadline = std::chrono::steady_clock::now() + resolve_timeout;
    boost::asio::steady_timer timer(host_.executor());
    while (std::chrono::steady_clock::now() < deadline) {
        bool is_resolved = false;
        try {
            *stored = co_await find_stored(batch);
            is_resolved = true;
        } catch (const std::exception& error) {
            // The outcome stays unknown, and this asks again until its time is over.
            log::warning("cannot find out whether mail was stored", {{"error", error.what()}});
        }
        if (is_resolved)
            co_return;
        timer.expires_after(resolve_interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
    stored->assign(batch.size(), std::nullopt);
}

awaitable<ingest_repository::results> ingest_repository::find_stored(const mail_batch& batch)
{
    return db_.transact([batch](pqxx::work& tx) {
        std::vector<account_id> accounts;
        std::vector<inbox_id> inboxes;
        std::vector<email_id> emails;
        for (const auto& message : batch) {
            for (const auto& delivery : message->deliveries) {
                accounts.push_back(delivery.account);
                inboxes.push_back(delivery.inbox);
                emails.push_back(delivery.id);
            }
        }
        postgres::exec_prepared(tx, lock_inboxes.name, postgres::to_array(accounts),
                                postgres::to_array(inboxes));
        std::map<email_id, std::int64_t> sequences;
        for (const auto& row : postgres::exec_prepared(
                 tx, find_emails.name, postgres::to_array(accounts), postgres::to_array(emails)))
            sequences[column<email_id>(row, "email_id")] = column<std::int64_t>(row, "sequence");

        results stored;
        for (const auto& message : batch) {
            std::vector<delivery_result> deliveries;
            bool is_any_stored = false;
            for (const auto& delivery : message->deliveries) {
                const auto sequence = sequences.find(delivery.id);
                delivery_result result;
                result.email = delivery.id;
                if (sequence != sequences.end()) {
                    result.status = delivery_status::stored;
                    result.sequence = sequence->second;
                    is_any_stored = true;
                }
                deliveries.push_back(result);
            }
            // No row of it: it was not stored, whatever state its inboxes are in.
            stored.push_back(is_any_stored ? stored_message(std::move(deliveries)) : std::nullopt);
        }
        return stored;
    });
}

awaitable<void> ingest_repository::mark_unacknowledged(std::vector<email_key> emails)
{
    return db_.transact([emails = std::move(emails)](pqxx::work& tx) {
        std::vector<account_id> accounts;
        std::vector<email_id> ids;
        for (const auto& email : emails) {
            accounts.push_back(email.account);
            ids.push_back(email.id);
        }
        tx.exec_params(mark_emails, postgres::to_array(accounts), postgres::to_array(ids));
    });
}

awaitable<void> ingest_repository::sign_on(std::string replica)
{
    return db_.transact(
        [replica = std::move(replica)](pqxx::work& tx) { show(tx, replica, true); });
}

awaitable<void> ingest_repository::heartbeat(std::string replica)
{
    return db_.transact([replica = std::move(replica)](pqxx::work& tx) {
        show(tx, replica, false);
        tx.exec0(purge_expired);
    });
}

awaitable<void> ingest_repository::sign_off(std::string replica)
{
    return db_.transact([replica = std::move(replica)](pqxx::work& tx) {
        tx.exec_params("DELETE FROM mailbox.ingest_runs WHERE replica = $1", replica);
    });
}

awaitable<std::int64_t> ingest_repository::note_rejections(std::vector<new_rejection> batch)
{
    return postgres::run_autocommit<std::int64_t>(
        db_, [batch = std::move(batch)](pqxx::nontransaction& tx) {
            binary_array rows(postgres::composite_oid(tx, "mailbox.new_rejection"));
            for (const auto& rejection : batch)
                rows.add_row(rejection.account, rejection.inbox, rejection.reason,
                             rejection.mail_from, rejection.reply, rejection.attempts,
                             rejection.first_at, rejection.last_at);
            return column<std::int64_t>(postgres::exec_prepared1(tx, write_rejections.name,
                                                                 rows.parameter(),
                                                                 max_rejections_per_inbox),
                                        "noted");
        });
}

// Encodes the sequence as SQL function mailbox.sequence_field does.
outbox::row ingest_repository::event_of(const new_delivery& delivery, std::int64_t sequence)
{
    constexpr char sequence_tag = 0x20;
    constexpr int last_shift = 49;
    auto row = delivery.event;
    events::set_sequence(row, sequence);
    row.message.value.push_back(sequence_tag);
    for (int shift = 0; shift <= last_shift; shift += 7)
        row.message.value.push_back(
            static_cast<char>((sequence >> shift & 127) | (shift < last_shift ? 128 : 0)));
    return row;
}

} // namespace tempinbox::mailbox
