#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"

#include <boost/asio/ip/address.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::http {

using header_list = std::vector<std::pair<std::string, std::string>>;

// Names compare without case. Absent: nullopt.
std::optional<std::string_view> find_header(const header_list& headers, std::string_view name);

// A request as a handler sees it: decoded path and query, whole body (bounded by the server's
// limit).
struct request
{
    std::string method;
    std::string target;                                     // as sent, without scheme and host
    std::string path;                                       // percent-decoded, no query
    std::vector<std::pair<std::string, std::string>> query; // decoded, in order
    std::vector<std::pair<std::string, std::string>> path_params; // filled by the router
    header_list headers;
    std::string body;
    std::string id; // X-Request-Id: the client's own where sane, else a new one
    boost::asio::ip::address peer;
    bool is_tls = false;
    bool body_too_large = false; // the body was over the limit and was discarded
    std::string target_error; // why path or query cannot be decoded: the response is 400; `path` is
                              // then as sent
    std::string_view route;   // pattern of the matched route, set by the router: label of metrics
    // A handler that waits long may set it. It is called once, on the loop, if the client hangs up
    // meanwhile (noticed within about a second) or the server stops. The handler then ends early;
    // its response is discarded.
    std::function<void()> on_hang_up;

    // The path as sent, without the query: the router splits this one, since an encoded slash is no
    // separator.
    std::string_view raw_path() const
    {
        return std::string_view(target).substr(0, target.find('?'));
    }
    std::optional<std::string_view> header(std::string_view name) const
    {
        return find_header(headers, name);
    }
    std::optional<std::string_view> query_param(std::string_view name) const;
    std::string_view path_param(std::string_view name) const;
};

// A body sent piece by piece over a long time, such as server-sent events.
struct body_source
{
    // The next piece, not empty; an empty one ends the body. Throws nothing.
    std::function<awaitable<std::string>()> next;
    // Called on the loop when the client hung up or the server stops: `next` then ends early.
    std::function<void()> stop;
};

struct response
{
    unsigned status = 200;
    header_list headers;
    std::string body;
    std::shared_ptr<const void>
        reservation; // the reservation of its memory, released once the response is sent
    std::shared_ptr<const body_source> source; // what follows `body`, in pieces (chunked)

    response() = default;
    response(unsigned code, std::string_view content_type, std::string content);
    response& set(std::string_view name, std::string_view value);
    response& set(std::string_view name, std::int64_t value)
    {
        return set(name, std::string_view(std::to_string(value)));
    }
};

// The request outlives the awaitable. If a handler throws, the response is 500, or 503 for a
// dependency_error; both are logged once with the request id.
using handler = std::function<awaitable<response>(request&)>;

// RFC 9110 reason phrases: the `error` of the API's error body.
std::string_view status_name(unsigned status);
// The one table errc → HTTP status.
unsigned status_of(errc code);

// What programs tell errors apart by (common/core/error_reason.hpp).
constexpr std::string_view error_code_header = "X-Error-Code";

response ok_json(std::string json);
response created_json(std::string json, std::string_view location);
// {"statusCode":404,"error":"Not Found","message":"…"}, with the reason in X-Error-Code: the one
// given, or the status' own.
response error_response(error_reason reason, std::string_view message);
response error_response(unsigned status, std::string_view message);
response error_response(const failure& reason);
// What a failure is called: by its reason, or else by its code.
error_reason reason_of(const failure& refused);

} // namespace tempinbox::http
