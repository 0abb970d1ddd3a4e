#pragma once

#include "common/core/error_reason.hpp"

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace tempinbox {

// Why a request is refused. One table each maps it to an HTTP status (http/message.cpp) and a
// Connect code (rpc/codes.cpp). SMTP has reasons of its own, recipient_status and message_status
// (mail-ingest/envelope/envelope.hpp): no errc becomes an SMTP reply.
enum class errc {
    invalid_argument,
    unauthenticated,
    permission_denied,
    not_found,
    conflict,
    unprocessable,
    rate_limited,
    payload_too_large,
    unsupported_media_type,
    unavailable,
    deadline_exceeded,
    internal
};
constexpr std::size_t errc_count = static_cast<std::size_t>(errc::internal) + 1;

std::string_view to_string(errc code);

// A refusal as a value: the code decides the status, the sentence is shown to the caller, and the
// reason is for programs. Without one it is that of the code's status.
struct failure
{
    errc code = errc::internal;
    std::string message;
    error_reason reason = error_reason::none;
};

inline std::ostream& operator<<(std::ostream& out, const failure& reason)
{
    return out << to_string(reason.code) << ": " << reason.message;
}

template <class T>
using result = boost::system::result<T, failure>;

// For messages of tests: the value itself need not be printable.
template <class T>
std::ostream& operator<<(std::ostream& out, const boost::system::result<T, failure>& outcome)
{
    return outcome ? out << "a value" : out << outcome.error();
}

inline std::ostream& operator<<(std::ostream& out,
                                const boost::system::result<void, failure>& outcome)
{
    return outcome ? out << "success" : out << outcome.error();
}

// What `result<T>::value()` throws when there is no value: a programming error, or an error that
// the caller chose not to handle.
class failure_error : public std::runtime_error
{
public:
    explicit failure_error(failure reason)
        : std::runtime_error(reason.message),
          reason_(std::move(reason))
    {}
    const failure& reason() const { return reason_; }

private:
    failure reason_;
};

[[noreturn]] void throw_exception_from_error(const failure& reason,
                                             const boost::source_location& where);

// A dependency (PostgreSQL, Kafka, another service) cannot be reached or did not answer in time.
// Becomes 503, 451 or unavailable at the edge.
class dependency_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

} // namespace tempinbox
