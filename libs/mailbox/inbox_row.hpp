#pragma once

#include "mailbox/columns.hpp"
#include "mailbox/row_columns.hpp"
#include "mailbox/types.hpp"

namespace tempinbox::mailbox {

inline std::optional<time_point> read_time(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return from_unix_micros(field.as<std::int64_t>());
}

inline constexpr const char* login_of_inbox = R"((
    SELECT ARRAY[l.login, mailbox.to_micros(l.created_at)::text,
                 coalesce(mailbox.to_micros(l.last_used_at)::text, ''),
                 coalesce(mailbox.to_micros(l.previous_until)::text, '')]
    FROM mailbox.capture_logins AS l
    WHERE l.account_id = inboxes.account_id AND l.inbox_id = inboxes.inbox_id
        AND l.revoked_at IS NULL AND inboxes.is_live AND inboxes.expires_at > now()))";

inline capture_login login_from_array(std::string_view literal)
{
    const auto fields = from_array(literal);
    const auto time_of = [](const std::string& micros) -> std::optional<time_point> {
        if (micros.empty())
            return std::nullopt;
        return from_unix_micros(std::stoll(micros));
    };
    capture_login login;
    login.user = fields.at(0);
    login.created_at = time_of(fields.at(1)).value();
    login.last_used_at = time_of(fields.at(2));
    login.previous_until = time_of(fields.at(3));
    return login;
}

// An ended inbox shows no mail and no login. The table has to be called `inboxes`.
inline constexpr row_column<inbox> inbox_columns[] = {
    {"account_id", "account_id",
     [](inbox& row, const pqxx::field& value) {
         row.account = account_id::parse(value.c_str()).value();
     }},
    {"inbox_id", "inbox_id",
     [](inbox& row, const pqxx::field& value) { row.id = inbox_id::parse(value.c_str()).value(); }},
    {"email_address", "email_address",
     [](inbox& row, const pqxx::field& value) { row.address = value.as<std::string>(); }},
    {"name", "name",
     [](inbox& row, const pqxx::field& value) {
         if (!value.is_null())
             row.name = value.as<std::string>();
     }},
    {"tags", "tags",
     [](inbox& row, const pqxx::field& value) { row.tags = from_array(value.c_str()); }},
    {"metadata", "metadata",
     [](inbox& row, const pqxx::field& value) {
         row.metadata = metadata_from_json(value.c_str());
     }},
    {"lives", "is_live AND expires_at > now()",
     [](inbox& row, const pqxx::field& value) { row.is_live = value.as<bool>(); }},
    {"email_count", "CASE WHEN is_live AND expires_at > now() THEN email_count ELSE 0 END",
     [](inbox& row, const pqxx::field& value) { row.email_count = value.as<std::int64_t>(); }},
    {"email_bytes", "CASE WHEN is_live AND expires_at > now() THEN email_bytes ELSE 0 END",
     [](inbox& row, const pqxx::field& value) { row.email_bytes = value.as<std::int64_t>(); }},
    {"last_sequence", "last_sequence",
     [](inbox& row, const pqxx::field& value) { row.last_sequence = value.as<std::int64_t>(); }},
    {"last_email_micros", "mailbox.to_micros(last_email_at)",
     [](inbox& row, const pqxx::field& value) { row.last_email_at = read_time(value); }},
    {"created_micros", "mailbox.to_micros(created_at)",
     [](inbox& row, const pqxx::field& value) { row.created_at = read_time(value).value(); }},
    {"expires_micros", "mailbox.to_micros(expires_at)",
     [](inbox& row, const pqxx::field& value) { row.expires_at = read_time(value).value(); }},
    {"expired_micros",
     "mailbox.to_micros(coalesce(expired_at, CASE WHEN expires_at <= now() THEN expires_at END))",
     [](inbox& row, const pqxx::field& value) { row.expired_at = read_time(value); }},
    {"state_version", "state_version",
     [](inbox& row, const pqxx::field& value) { row.state_version = value.as<std::int64_t>(); }},
    {"max_age_seconds", "max_age_seconds",
     [](inbox& row, const pqxx::field& value) {
         if (!value.is_null())
             row.retention.max_age = std::chrono::seconds(value.as<std::int64_t>());
     }},
    {"drops_oldest", "coalesce(drops_oldest, false)",
     [](inbox& row, const pqxx::field& value) { row.retention.drops_oldest = value.as<bool>(); }},
    {"renews_on_use", "coalesce(renews_on_use, false)",
     [](inbox& row, const pqxx::field& value) { row.renews_on_use = value.as<bool>(); }},
    {"login", login_of_inbox,
     [](inbox& row, const pqxx::field& value) {
         if (!value.is_null())
             row.login = login_from_array(value.c_str());
     }},
};

inline inbox read_inbox(const pqxx::row& row)
{
    inbox read;
    read_columns(inbox_columns, read, row);
    return read;
}

} // namespace tempinbox::mailbox
