#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <pqxx/pqxx>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::postgres {

// The OID of a type in pg_type.
using type_oid = std::uint32_t;

// A bytea: a std::string alone is a text.
struct bytea
{
    std::string_view bytes;
};

// The OIDs of a type and of its arrays, fixed in pg_type for built-in types.
template <type_oid Oid, type_oid ArrayOid>
struct type_oids
{
    static constexpr type_oid oid = Oid;
    static constexpr type_oid array_oid = ArrayOid;
};

// How a C++ type is written in PostgreSQL's binary format: put() appends a value.
template <class T>
struct binary_format;

template <>
struct binary_format<bool> : type_oids<16, 1000>
{
    static void put(std::string& out, bool flag);
};
template <>
struct binary_format<bytea> : type_oids<17, 1001>
{
    static void put(std::string& out, bytea value) { out.append(value.bytes); }
};
template <>
struct binary_format<std::int64_t> : type_oids<20, 1016>
{
    static void put(std::string& out, std::int64_t number);
};
template <>
struct binary_format<std::int32_t> : type_oids<23, 1007>
{
    static void put(std::string& out, std::int32_t number);
};
template <>
struct binary_format<std::string_view> : type_oids<25, 1009>
{
    static void put(std::string& out, std::string_view text) { out.append(text); }
};
template <>
struct binary_format<std::string> : binary_format<std::string_view>
{};
template <>
struct binary_format<std::chrono::sys_days> : type_oids<1082, 1182>
{
    static void put(std::string& out, std::chrono::sys_days day);
};
template <>
struct binary_format<time_point> : type_oids<1184, 1185>
{
    static void put(std::string& out, time_point time);
};
template <>
struct binary_format<uuid> : type_oids<2950, 2951>
{
    static void put(std::string& out, const uuid& id);
};
template <class Tag>
struct binary_format<strong_id<Tag>> : binary_format<uuid>
{
    static void put(std::string& out, const strong_id<Tag>& id)
    {
        binary_format<uuid>::put(out, id.value());
    }
};

// A one-dimensional array in PostgreSQL's binary format, as the parameter of a statement: neither
// side quotes, parses or escapes. The element type must be exactly the parameter's: an int[] takes
// std::int32_t, a bigint[] std::int64_t.
class binary_array
{
public:
    // A composite type's OID is composite_oid() of composite_type.hpp.
    explicit binary_array(type_oid element_type) : element_type_(element_type) {}

    // NULL for an optional without value.
    template <class T>
    void add(const T& value)
    {
        ++count_;
        put_sized(items_, value);
    }

    // An element of a composite type: its fields in their order, each of exactly the type that the
    // composite type has there. A vector is an array.
    template <class... Fields>
    void add_row(const Fields&... fields)
    {
        ++count_;
        const auto start = begin(items_);
        binary_format<std::int32_t>::put(items_, std::int32_t{sizeof...(Fields)});
        (put_field(fields), ...);
        end(items_, start);
    }

    // The whole array: its header and its elements.
    std::string bytes() const;
    pqxx::binarystring parameter() const;

private:
    // A value stands behind its length, which end() writes once it is known.
    static std::size_t begin(std::string& out);
    static void end(std::string& out, std::size_t start);

    template <class T>
    void put_sized(std::string& out, const T& value)
    {
        const auto start = begin(out);
        binary_format<T>::put(out, value);
        end(out, start);
    }
    template <class T>
    void put_sized(std::string& out, const std::optional<T>& maybe)
    {
        if (maybe)
            return put_sized(out, *maybe);
        has_null_ = true;
        binary_format<std::int32_t>::put(out, -1);
    }

    template <class T>
    void put_field(const T& value)
    {
        put_type(binary_format<T>::oid);
        put_sized(items_, value);
    }
    void put_type(type_oid type);

    type_oid element_type_;
    std::int32_t count_ = 0;
    bool has_null_ = false;
    std::string items_;
};

template <class T>
struct binary_format<std::optional<T>>
    : type_oids<binary_format<T>::oid, binary_format<T>::array_oid>
{};

template <class T>
struct binary_format<std::vector<T>>
{
    static constexpr type_oid oid = binary_format<T>::array_oid;

    static void put(std::string& out, const std::vector<T>& items)
    {
        binary_array array(binary_format<T>::oid);
        for (const auto& item : items)
            array.add(item);
        out.append(array.bytes());
    }
};

// A parameter of type text[], bigint[], boolean[], uuid[] and so on. Many rows reach one statement
// so: each column is an array, and SQL unnests them.
template <class T>
pqxx::binarystring to_array(const std::vector<T>& items)
{
    binary_array array(binary_format<T>::oid);
    for (const auto& item : items)
        array.add(item);
    return array.parameter();
}

// Two parameters of type uuid[]: the first and the second ids of the pairs.
template <class First, class Second>
std::pair<pqxx::binarystring, pqxx::binarystring>
to_arrays(const std::vector<std::pair<First, Second>>& pairs)
{
    binary_array firsts(binary_format<First>::oid), seconds(binary_format<Second>::oid);
    for (const auto& [first, second] : pairs) {
        firsts.add(first);
        seconds.add(second);
    }
    return {firsts.parameter(), seconds.parameter()};
}

} // namespace tempinbox::postgres
