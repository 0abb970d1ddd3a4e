#include "common/http/message.hpp"

#include "common/core/text.hpp"
#include "common/json/writer.hpp"

#include <algorithm>

namespace tempinbox::http {

std::optional<std::string_view> find_header(const header_list& headers, std::string_view name)
{
    for (const auto& [candidate, content] : headers)
        if (equals_ignoring_ascii_case(candidate, name))
            return content;
    return std::nullopt;
}

std::optional<std::string_view> request::query_param(std::string_view name) const
{
    for (const auto& [candidate, content] : query)
        if (candidate == name)
            return content;
    return std::nullopt;
}

std::string_view request::path_param(std::string_view name) const
{
    for (const auto& [candidate, content] : path_params)
        if (candidate == name)
            return content;
    return {};
}

response::response(unsigned code, std::string_view content_type, std::string content)
    : status(code),
      body(std::move(content))
{
    headers.reserve(8);
    headers.emplace_back("Content-Type", content_type);
}

response& response::set(std::string_view name, std::string_view value)
{
    for (auto& [candidate, content] : headers) {
        if (equals_ignoring_ascii_case(candidate, name)) {
            content = value;
            return *this;
        }
    }
    headers.emplace_back(name, value);
    return *this;
}

// RFC 9110 15, RFC 6585.
std::string_view status_name(unsigned status)
{
    switch (status) {
    case 100:
        return "Continue";
    case 101:
        return "Switching Protocols";
    case 200:
        return "OK";
    case 201:
        return "Created";
    case 202:
        return "Accepted";
    case 204:
        return "No Content";
    case 206:
        return "Partial Content";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 303:
        return "See Other";
    case 304:
        return "Not Modified";
    case 307:
        return "Temporary Redirect";
    case 308:
        return "Permanent Redirect";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 402:
        return "Payment Required";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 406:
        return "Not Acceptable";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 410:
        return "Gone";
    case 411:
        return "Length Required";
    case 412:
        return "Precondition Failed";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 415:
        return "Unsupported Media Type";
    case 417:
        return "Expectation Failed";
    case 421:
        return "Misdirected Request";
    case 422:
        return "Unprocessable Content";
    case 426:
        return "Upgrade Required";
    case 428:
        return "Precondition Required";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 499:
        return "Client Closed Request";
    case 500:
        return "Internal Server Error";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Unknown";
    }
}

unsigned status_of(errc code)
{
    switch (code) {
    case errc::invalid_argument:
        return 400;
    case errc::unauthenticated:
        return 401;
    case errc::permission_denied:
        return 403;
    case errc::not_found:
        return 404;
    case errc::conflict:
        return 409;
    case errc::unprocessable:
        return 422;
    case errc::rate_limited:
        return 429;
    case errc::payload_too_large:
        return 413;
    case errc::unsupported_media_type:
        return 415;
    case errc::unavailable:
        return 503;
    case errc::deadline_exceeded:
        return 504;
    case errc::internal:
        return 500;
    }
    return 500;
}

response ok_json(std::string json)
{
    return response(200, "application/json", std::move(json));
}

response created_json(std::string json, std::string_view location)
{
    response created(201, "application/json", std::move(json));
    created.set("Location", location);
    return created;
}

namespace {

response error_response(unsigned status, error_reason reason, std::string_view message)
{
    json::writer body;
    body.begin_object()
        .member("statusCode", status)
        .member("error", status_name(status))
        .member("message", message)
        .end_object();
    response answer(status, "application/json", body.take());
    answer.headers.emplace_back(error_code_header, to_string(reason));
    return answer;
}

} // namespace

response error_response(error_reason reason, std::string_view message)
{
    return error_response(status_of(reason), reason, message);
}

response error_response(unsigned status, std::string_view message)
{
    return error_response(status, error_reason_of_status(status), message);
}

error_reason reason_of(const failure& refused)
{
    if (refused.reason != error_reason::none)
        return refused.reason;
    if (refused.code == errc::invalid_argument)
        return error_reason::invalid_field;
    return error_reason_of_status(status_of(refused.code));
}

response error_response(const failure& reason)
{
    auto answer = error_response(status_of(reason.code), reason_of(reason), reason.message);
    if (reason.code == errc::unavailable)
        answer.set("Retry-After", "1");
    return answer;
}

} // namespace tempinbox::http
