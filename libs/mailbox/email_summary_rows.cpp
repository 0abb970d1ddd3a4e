#include "mailbox/email_summary_rows.hpp"

#include "common/postgres/column.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/header_addresses.hpp"

#include <type_traits>
#include <vector>

namespace tempinbox::mailbox {
namespace {

void read_value(const pqxx::field& value, std::vector<std::string>& texts)
{
    texts = from_array(value.c_str());
}

void read_value(const pqxx::field& value, std::vector<mime::email_address>& addresses)
{
    addresses = to_addresses_from_json(value.c_str());
}

// NULL if they were not asked for.
void read_value(const pqxx::field& value, std::vector<extract::code>& codes)
{
    if (!value.is_null())
        codes = codes_from_json(value.c_str());
}

template <class T>
void read_value(const pqxx::field& value, T& scalar)
{
    scalar = postgres::column_type<T>::parse(value);
}

// What reads a field's column: SQL over a row of mailbox.emails.
template <class T>
std::string expression_of(const summary_field<T>& field)
{
    if constexpr (std::is_same_v<T, time_point>)
        return "mailbox.to_micros(" + std::string(field.column) + ") AS " + field.column;
    else if constexpr (std::is_same_v<T, std::vector<mime::email_address>>)
        return "coalesce(header_addresses -> 'to', to_jsonb(to_header)) AS " +
               std::string(field.column);
    else
        return field.column;
}

} // namespace

std::string summary_columns(std::string_view condition_of_codes)
{
    std::string list;
    for_each_summary_field([&]<class T>(const summary_field<T>& field) {
        auto expression = expression_of(field);
        if constexpr (std::is_same_v<T, std::vector<extract::code>>)
            if (!condition_of_codes.empty())
                expression = "CASE WHEN " + std::string(condition_of_codes) + " THEN " +
                             field.column + " END AS " + field.column;
        list += (list.empty() ? " " : ", ") + expression;
    });
    return list + " ";
}

email_summary read_summary(const pqxx::row& row)
{
    email_summary found;
    int index = 0;
    for_each_summary_field(
        [&](const auto& field) { read_value(row[index++], found.*field.member); });
    return found;
}

message_location read_message_location(account_id account, const pqxx::row& row)
{
    return {{account, postgres::column<body_id>(row, "body_id"),
             postgres::column<time_point>(row, "body_micros")},
            postgres::column<std::int64_t>(row, "size_bytes")};
}

} // namespace tempinbox::mailbox
