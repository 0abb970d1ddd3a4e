#include "common/rpc/codes.hpp"

#include <array>

namespace tempinbox::rpc {
namespace {

struct entry
{
    errc code;
    std::string_view name;
    unsigned status;
};

// Where several errc share a Connect code, the first is what reading it gives.
constexpr std::array table{
    entry{errc::invalid_argument, "invalid_argument", 400},     entry{errc::unauthenticated, "unauthenticated", 401},
    entry{errc::permission_denied, "permission_denied", 403},   entry{errc::not_found, "not_found", 404},
    entry{errc::conflict, "already_exists", 409},               entry{errc::unprocessable, "failed_precondition", 400},
    entry{errc::rate_limited, "resource_exhausted", 429},       entry{errc::payload_too_large, "out_of_range", 400},
    entry{errc::unsupported_media_type, "unimplemented", 501},  entry{errc::unavailable, "unavailable", 503},
    entry{errc::deadline_exceeded, "deadline_exceeded", 504},   entry{errc::internal, "internal", 500},
};

const entry& find(errc code)
{
    for (const auto& each : table)
        if (each.code == code)
            return each;
    return table.back();
}

} // namespace

std::string_view connect_code(errc code)
{
    return find(code).name;
}

errc code_from_connect(std::string_view connect_code)
{
    for (const auto& each : table)
        if (each.name == connect_code)
            return each.code;
    return connect_code == "aborted" ? errc::conflict : connect_code == "canceled" ? errc::unavailable : errc::internal;
}

unsigned connect_http_status(errc code)
{
    return find(code).status;
}

} // namespace tempinbox::rpc
