#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <pqxx/pqxx>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// A one-dimensional array in PostgreSQL's binary format, as the parameter of a prepared statement:
// neither side quotes, parses or escapes. The element type must be the parameter's.
class binary_array
{
public:
    // The types' fixed OIDs in pg_type.
    enum class element : std::uint32_t {
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

} // namespace tempinbox::mailbox
