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

// An ended inbox shows no mail.
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
};

inline inbox read_inbox(const pqxx::row& row)
{
    inbox read;
    read_columns(inbox_columns, read, row);
    return read;
}

} // namespace tempinbox::mailbox
