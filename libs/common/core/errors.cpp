#include "common/core/errors.hpp"

namespace tempinbox {

std::string_view to_string(errc code)
{
    switch (code) {
    case errc::invalid_argument:
        return "invalid_argument";
    case errc::unauthenticated:
        return "unauthenticated";
    case errc::permission_denied:
        return "permission_denied";
    case errc::not_found:
        return "not_found";
    case errc::conflict:
        return "conflict";
    case errc::unprocessable:
        return "unprocessable";
    case errc::rate_limited:
        return "rate_limited";
    case errc::payload_too_large:
        return "payload_too_large";
    case errc::unsupported_media_type:
        return "unsupported_media_type";
    case errc::unavailable:
        return "unavailable";
    case errc::deadline_exceeded:
        return "deadline_exceeded";
    case errc::internal:
        return "internal";
    }
    return "internal";
}

void throw_exception_from_error(const failure& reason, const boost::source_location&)
{
    throw failure_error(reason);
}

} // namespace tempinbox
