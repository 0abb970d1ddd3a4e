#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <pqxx/pqxx>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::postgres {

// A one-dimensional array in PostgreSQL's binary format, as the parameter of a prepared statement:
// neither side quotes, parses or escapes. The element type must be the parameter's.
class binary_array
{
public:
    // The types' fixed OIDs in pg_type.
    enum class element : std::uint32_t {
        boolean = 16,
        bytes = 17,
        int8 = 20,
        int4 = 23,
        text = 25,
        timestamp = 1184,
        id = 2950
    };

    explicit binary_array(element type) : type_(type) {}

    void add(std::string_view bytes);
    void add(const std::optional<std::string>& maybe);
    void add(const uuid& id);
    void add_bool(bool flag);
    void add_int4(std::int32_t number);
    void add_int8(std::int64_t number);
    void add_time(time_point time);

    pqxx::binarystring parameter() const;

private:
    element type_;
    std::int32_t count_ = 0;
    bool has_null_ = false;
    std::string items_;
};

// Parameters of type text[], bigint[], boolean[] and uuid[]. Many rows reach one statement so: each
// column is an array, and SQL unnests them.
pqxx::binarystring to_array(const std::vector<std::string>& texts);
pqxx::binarystring to_array(const std::vector<std::int64_t>& numbers);
pqxx::binarystring to_array(const std::vector<bool>& flags);
template <class Tag>
pqxx::binarystring to_array(const std::vector<strong_id<Tag>>& ids)
{
    binary_array array(binary_array::element::id);
    for (const auto& id : ids)
        array.add(id.value());
    return array.parameter();
}

// Two parameters of type uuid[]: the first and the second ids of the pairs.
template <class First, class Second>
std::pair<pqxx::binarystring, pqxx::binarystring>
to_arrays(const std::vector<std::pair<First, Second>>& pairs)
{
    binary_array firsts(binary_array::element::id), seconds(binary_array::element::id);
    for (const auto& [first, second] : pairs) {
        firsts.add(first.value());
        seconds.add(second.value());
    }
    return {firsts.parameter(), seconds.parameter()};
}

} // namespace tempinbox::postgres
