#pragma once

#include "common/core/errors.hpp"

namespace tempinbox::cli {

// What a script can tell apart; README.md and the help say the same.
enum class exit_code : int {
    done = 0,
    not_in_time = 1,   // no email matched, or with --none one came
    bad_usage = 2,     // the command line, a setting or a value is wrong
    refused = 3,       // the API key or the plan
    not_found = 4,     // no such inbox or email
    over_limit = 5,    // requests of the day or the second, inboxes of the plan
    unreachable = 6,   // the service cannot be reached, or failed
    local_failure = 7, // this machine, or the target of listen
    conflict = 8       // the address is taken
};

// The one table errc → exit code.
constexpr exit_code exit_code_of(errc code)
{
    switch (code) {
    case errc::invalid_argument:
    case errc::payload_too_large:
    case errc::unsupported_media_type:
        return exit_code::bad_usage;
    case errc::unauthenticated:
    case errc::permission_denied:
        return exit_code::refused;
    case errc::not_found:
        return exit_code::not_found;
    case errc::conflict:
    case errc::unprocessable:
        return exit_code::conflict;
    case errc::rate_limited:
        return exit_code::over_limit;
    case errc::unavailable:
        return exit_code::unreachable;
    case errc::deadline_exceeded:
        return exit_code::not_in_time;
    case errc::internal:
        break;
    }
    return exit_code::local_failure;
}

} // namespace tempinbox::cli
