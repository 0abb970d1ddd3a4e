#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <pqxx/pqxx>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::postgres {

// How a column's text becomes a value. Times are microseconds since 1970, durations seconds, both
// bigint; days are counted since 1970, integer; an optional is absent for null.
template <class T>
struct column_type
{
    static T parse(const pqxx::field& field) { return field.as<T>(); }
};

template <>
struct column_type<uuid>
{
    static uuid parse(const pqxx::field& field)
    {
        return uuid::parse(std::string_view(field.c_str(), field.size())).value();
    }
};

template <class Tag>
struct column_type<strong_id<Tag>>
{
    static strong_id<Tag> parse(const pqxx::field& field)
    {
        return strong_id<Tag>{column_type<uuid>::parse(field)};
    }
};

template <>
struct column_type<time_point>
{
    static time_point parse(const pqxx::field& field)
    {
        return from_unix_micros(field.as<std::int64_t>());
    }
};

template <>
struct column_type<std::chrono::seconds>
{
    static std::chrono::seconds parse(const pqxx::field& field)
    {
        return std::chrono::seconds{field.as<std::int64_t>()};
    }
};

template <>
struct column_type<std::chrono::sys_days>
{
    static std::chrono::sys_days parse(const pqxx::field& field)
    {
        return std::chrono::sys_days{std::chrono::days{field.as<int>()}};
    }
};

template <class T>
struct column_type<std::optional<T>>
{
    static std::optional<T> parse(const pqxx::field& field)
    {
        if (field.is_null())
            return std::nullopt;
        return column_type<T>::parse(field);
    }
};

// A column of a row, by its name. Throws if the row has no such column, if it is null and T is no
// optional, and if its text is no T.
template <class T>
T column(const pqxx::row& row, const char* name)
{
    return column_type<T>::parse(row[name]);
}

template <class T>
void read_column(const pqxx::row& row, const char* name, T& value)
{
    value = column<T>(row, name);
}

// The content of a bytea column.
inline std::string bytes_of(const pqxx::field& field)
{
    const pqxx::binarystring bytes(field);
    return std::string(bytes.get(), bytes.size());
}

} // namespace tempinbox::postgres
