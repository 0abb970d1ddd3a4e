#pragma once

#include <pqxx/pqxx>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::postgres {

// Many rows as one statement's parameters: columns are passed as arrays and unnested in SQL.

// `{"a","b\"c"}`: any text[] or uuid[].
std::string text_array(const std::vector<std::string>& items);
// `{1,2}`: any integer array.
std::string integer_array(const std::vector<std::int64_t>& items);

// A column of bytea: one binary parameter that holds them all, and where each starts and how long
// it is. In SQL, for parameters $1, $2, $3:
//   substring($1::bytea FROM start FOR length) ... unnest($2::int[], $3::int[]) AS t(start, length)
// A null has length -1: `CASE WHEN length >= 0 THEN substring(...) END`.
class packed_bytes
{
public:
    void add(std::string_view bytes);
    void add_null();

    pqxx::binarystring bytes() const { return pqxx::binarystring(bytes_.data(), bytes_.size()); }
    std::string starts() const { return integer_array(starts_); }
    std::string lengths() const { return integer_array(lengths_); }

private:
    std::string bytes_;
    std::vector<std::int64_t> starts_;
    std::vector<std::int64_t> lengths_;
};

// The content of a bytea column.
std::string bytes_of(const pqxx::field& field);

} // namespace tempinbox::postgres
