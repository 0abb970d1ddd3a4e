#include "mailbox/inbox_row_store.hpp"

#include "mailbox/columns.hpp"

namespace tempinbox::mailbox {
namespace {

std::optional<time_point> read_time(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return from_unix_micros(field.as<std::int64_t>());
}

} // namespace

inbox read_inbox(const pqxx::row& row, int first_column)
{
    int at = first_column;
    inbox found;
    found.account = account_id::parse(row[at++].c_str()).value();
    found.id = inbox_id::parse(row[at++].c_str()).value();
    found.address = row[at++].as<std::string>();
    if (const auto name = row[at++]; !name.is_null())
        found.name = name.as<std::string>();
    found.tags = from_array(row[at++].c_str());
    found.metadata = metadata_from_json(row[at++].c_str());
    found.is_live = row[at++].as<bool>();
    found.email_count = row[at++].as<std::int64_t>();
    found.last_sequence = row[at++].as<std::int64_t>();
    found.last_email_at = read_time(row[at++]);
    found.created_at = read_time(row[at++]).value();
    found.expires_at = read_time(row[at++]).value();
    found.expired_at = read_time(row[at++]);
    found.email_bytes = row[at++].as<std::int64_t>();
    return found;
}

} // namespace tempinbox::mailbox
