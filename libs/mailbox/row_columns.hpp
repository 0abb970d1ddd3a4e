#pragma once

#include <pqxx/pqxx>

#include <cstddef>
#include <string>

namespace tempinbox::mailbox {

// One column of a row. An array of them is the only description of the row: both the list of a
// SELECT and the reading of what it returns derive from it.
template <class Row>
struct row_column
{
    const char* name;
    const char* expression; // over the table
    void (*read)(Row& row, const pqxx::field& value);
};

// `expression AS name, ...`: selects the columns from their table.
template <class Row, std::size_t Count>
std::string select_list(const row_column<Row> (&columns)[Count])
{
    std::string list;
    for (const auto& column : columns)
        list += (list.empty() ? " " : ", ") + std::string(column.expression) + " AS " + column.name;
    return list + " ";
}

// Reads the columns by their names.
template <class Row, std::size_t Count>
void read_columns(const row_column<Row> (&columns)[Count], Row& row, const pqxx::row& from)
{
    for (const auto& column : columns)
        column.read(row, from[column.name]);
}

} // namespace tempinbox::mailbox
