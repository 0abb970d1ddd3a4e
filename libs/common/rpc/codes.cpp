#include "common/rpc/codes.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::rpc {
namespace {

struct row
{
    errc code;
    std::string_view connect;
    unsigned http;
};

// Connect protocol, "Error codes", in the order of errc. Both directions read this table, so that a
// failure passes through a service unchanged.
constexpr std::array table{
    row{errc::invalid_argument, "invalid_argument", 400},
    row{errc::unauthenticated, "unauthenticated", 401},
    row{errc::permission_denied, "permission_denied", 403},
    row{errc::not_found, "not_found", 404},
    row{errc::conflict, "already_exists", 409},
    row{errc::unprocessable, "failed_precondition", 400},
    row{errc::rate_limited, "resource_exhausted", 429},
    row{errc::payload_too_large, "out_of_range", 400},
    row{errc::unsupported_media_type, "unknown", 500},
    row{errc::unavailable, "unavailable", 503},
    row{errc::deadline_exceeded, "deadline_exceeded", 504},
    row{errc::internal, "internal", 500},
};

constexpr bool is_in_order()
{
    for (std::size_t i = 0; i < table.size(); ++i)
        if (static_cast<std::size_t>(table[i].code) != i)
            return false;
    return table.back().code == errc::internal;
}
static_assert(is_in_order(), "a row is missing, or not in the order of errc");

const row& row_of(errc code)
{
    return table[static_cast<std::size_t>(code)];
}

} // namespace

std::string_view connect_code(errc code)
{
    return row_of(code).connect;
}

errc code_from_connect(std::string_view name)
{
    if (name == "aborted")
        return errc::conflict;
    if (name == "canceled")
        return errc::unavailable;
    if (name == "unknown")
        return errc::internal;
    const auto found = std::find_if(table.begin(), table.end(), [name](const row& candidate) {
        return candidate.connect == name;
    });
    return found == table.end() ? errc::internal : found->code;
}

unsigned connect_http_status(errc code)
{
    return row_of(code).http;
}

} // namespace tempinbox::rpc
