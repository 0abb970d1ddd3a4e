#include "mailbox/email_store.hpp"

#include "mailbox/columns.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/cursor.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

constexpr postgres::statement find_live_inbox{"mailbox_find_live_inbox", R"(
    SELECT mailbox.to_micros(created_at), mailbox.to_micros(last_email_at) FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now())"};

// $3, $7: the inbox has no older and no newer email, so the days before and after are not looked at.
constexpr postgres::statement list_emails{"mailbox_list_emails", R"(
    SELECT email_id, inbox_id, sequence, from_address, from_name, rcpt_to, subject, preview, mailbox.to_micros(received_at), size_bytes,
           attachment_count, is_read, codes
    FROM mailbox.emails WHERE account_id = $1 AND inbox_id = $2 AND email_id >= $3 AND email_id < $7 AND sequence < $4
        AND sequence > $5
    ORDER BY sequence DESC LIMIT $6)"};

constexpr postgres::statement find_email{"mailbox_find_email", R"(
    SELECT e.email_id, e.inbox_id, e.sequence, e.from_address, e.from_name, e.rcpt_to, e.subject, e.preview, mailbox.to_micros(e.received_at),
           e.size_bytes, e.attachment_count, e.is_read, e.codes,
           e.to_header, e.message_id, e.mail_from, e.remote_address, e.helo, e.tls, e.links, e.defects, mailbox.to_micros(e.body_hour), e.body_id
    FROM mailbox.emails AS e JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND i.is_live AND i.expires_at > now())"};

constexpr postgres::statement find_body{"mailbox_find_body", R"(
    SELECT raw FROM mailbox.bodies WHERE body_hour = mailbox.from_micros($1) AND body_id = $2)"};

// Clocks of replicas differ by less.
constexpr std::chrono::minutes clock_skew{10};

// The lowest id an email can have that was made at that time.
std::string lowest_email_id(time_point made)
{
    const auto millis = std::chrono::floor<std::chrono::milliseconds>(made).time_since_epoch().count();
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < 6; ++i)
        bytes[i] = static_cast<std::uint8_t>(millis >> (40 - 8 * i));
    return uuid{bytes}.text();
}

email_summary read_summary(const pqxx::row& row)
{
    int at = 0;
    email_summary email;
    email.id = email_id::parse(row[at++].c_str()).value();
    email.inbox = inbox_id::parse(row[at++].c_str()).value();
    email.sequence = row[at++].as<std::int64_t>();
    email.from = row[at++].as<std::string>();
    email.from_name = row[at++].as<std::string>();
    email.rcpt_to = from_array(row[at++].c_str());
    email.subject = row[at++].as<std::string>();
    email.preview = row[at++].as<std::string>();
    email.received_at = from_unix_micros(row[at++].as<std::int64_t>());
    email.size = row[at++].as<std::int64_t>();
    email.attachment_count = row[at++].as<int>();
    email.is_read = row[at++].as<bool>();
    email.codes = codes_from_json(row[at++].c_str());
    return email;
}

constexpr int summary_columns = 13;

std::optional<std::string> read_text(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return field.as<std::string>();
}

std::string read_body(pqxx::work& tx, std::int64_t hour, const std::string& id)
{
    // A body that is being moved into its new partition can be missed by one look, not by two.
    for (int look = 0; look < 2; ++look) {
        const auto rows = tx.exec_prepared(find_body.name, hour, id);
        if (rows.empty())
            continue;
        const pqxx::binarystring frame(rows[0][0]);
        return decompress(std::string_view(frame.get(), frame.size()));
    }
    throw std::runtime_error("body " + id + " is missing");
}

std::string text_of(inbox_id inbox, std::int64_t after)
{
    return "emails " + inbox.text() + " " + std::to_string(after);
}

result<std::int64_t> read_position(const std::string& cursor, const std::string& filter)
{
    std::int64_t below = std::numeric_limits<std::int64_t>::max();
    if (cursor.empty())
        return below;
    const auto text = read_cursor(cursor, filter);
    if (!text)
        return text.error();
    if (std::from_chars(text->data(), text->data() + text->size(), below).ec != std::errc{})
        return failure{errc::invalid_argument, "cursor is not one that this list gave out"};
    return below;
}

} // namespace

email_store::email_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {find_live_inbox, list_emails, find_email, find_body})
        db_.prepare(statement);
}

awaitable<result<page<email_summary>>> email_store::list(account_id account, inbox_id inbox, int limit, std::string cursor,
                                                         std::int64_t after)
{
    return db_.transact(
        [account, inbox, limit, cursor = std::move(cursor), after](pqxx::work& tx) -> result<page<email_summary>> {
            const auto live = tx.exec_prepared(find_live_inbox.name, account.text(), inbox.text());
            if (live.empty())
                return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
            const auto below = read_position(cursor, text_of(inbox, after));
            if (!below)
                return below.error();

            page<email_summary> answer;
            if (live[0][1].is_null())
                return answer;
            const auto oldest = lowest_email_id(from_unix_micros(live[0][0].as<std::int64_t>()) - clock_skew);
            const auto past = lowest_email_id(from_unix_micros(live[0][1].as<std::int64_t>()) + clock_skew);
            const auto rows =
                tx.exec_prepared(list_emails.name, account.text(), inbox.text(), oldest, *below, after, limit + 1, past);
            for (const auto& row : rows)
                if (static_cast<int>(answer.items.size()) < limit)
                    answer.items.push_back(read_summary(row));
            if (static_cast<int>(rows.size()) > limit)
                answer.next_cursor = make_cursor(text_of(inbox, after), std::to_string(answer.items.back().sequence));
            return answer;
        });
}

awaitable<result<stored_email>> email_store::find(account_id account, email_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<stored_email> {
        const auto rows = tx.exec_prepared(find_email.name, account.text(), id.text());
        if (rows.empty())
            return failure{errc::not_found, "Email " + id.text() + " does not exist"};
        const auto row = rows[0];
        int at = summary_columns;
        stored_email email;
        email.summary = read_summary(row);
        email.to_header = from_array(row[at++].c_str());
        email.message_id = read_text(row[at++]);
        email.mail_from = row[at++].as<std::string>();
        email.remote_address = row[at++].as<std::string>();
        email.helo = row[at++].as<std::string>();
        email.tls = read_text(row[at++]);
        email.links = links_from_json(row[at++].c_str());
        email.defects = from_array(row[at++].c_str());
        const auto hour = row[at++].as<std::int64_t>();
        email.raw = read_body(tx, hour, row[at].as<std::string>());
        return email;
    });
}

} // namespace tempinbox::mailbox
