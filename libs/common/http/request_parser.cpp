#include "common/http/request_parser.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/http/target.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace tempinbox::http {
namespace {

namespace beast_http = boost::beast::http;

// No more than this is reserved for a body before it arrives.
constexpr std::uint64_t max_reserved = 1024 * 1024;

std::string_view as_std(boost::beast::string_view text)
{
    return {text.data(), text.size()};
}

// Whether a request line is valid except for its version number, such as `GET / HTTP/2.0` (RFC 9110
// 15.6.6).
bool names_a_version(std::string_view line)
{
    line = line.substr(0, line.find('\r'));
    const auto version = line.substr(std::min(line.rfind(' ') + 1, line.size()));
    return std::count(line.begin(), line.end(), ' ') == 2 && version.size() == 8 &&
           version.starts_with("HTTP/") && is_digit(version[5]) && version[6] == '.' &&
           is_digit(version[7]);
}

} // namespace

request_parser::request_parser(request& out, std::uint32_t limit, std::uint64_t max_body)
    : out_(out),
      header_limit_(limit),
      body_limit_(max_body)
{
    header_limit(limit);
    body_limit(boost::none); // counted here: a body over the limit is not a parser error
    eager(false);
}

std::size_t request_parser::feed(std::string_view bytes)
{
    std::size_t used = 0;
    while (used < bytes.size()) {
        error_code error;
        const bool was_header = !is_header_done();
        if (!was_header && chunked() && may_begin_last_chunk(bytes.substr(used))) {
            state_ = progress::need_more;
            return used;
        }
        const auto step =
            put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), error);
        used += step;
        if (was_header) {
            // Beast bounds single fields, but not their sum when they arrive in pieces.
            header_bytes_ += step;
            const bool is_full = error == beast_http::error::need_more &&
                                 header_bytes_ + (bytes.size() - used) >= header_limit_;
            if (error == beast_http::error::header_limit || header_bytes_ > header_limit_ ||
                is_full) {
                state_ = progress::header_too_large;
                return used;
            }
        }
        if (error == beast_http::error::need_more) {
            state_ = progress::need_more;
            return used;
        }
        if (error == beast_http::error::body_limit) {
            state_ = progress::body_too_large;
            return used;
        }
        if (error) {
            state_ = error == beast_http::error::bad_version &&
                             names_a_version(bytes.substr(used - step))
                         ? fail(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here")
                         : fail(400, "The request is malformed: " + error.message());
            return used;
        }
        if (was_header && is_header_done()) {
            state_ = check_header();
            if (state_ == progress::header && is_done())
                state_ = progress::complete;
            eager(true);
            return used;
        }
        if (is_done()) {
            state_ = progress::complete;
            return used;
        }
        state_ = progress::need_more;
    }
    return used;
}

progress request_parser::fail(unsigned status, std::string reason)
{
    status_ = status;
    reason_ = std::move(reason);
    return progress::malformed;
}

progress request_parser::check_header()
{
    // RFC 9112 3.2: exactly one Host in HTTP/1.1.
    if (hosts_ > 1 || (hosts_ == 0 && is_http_11_))
        return fail(400, "The request must have one Host header");
    // RFC 9112 6.1
    if (has_unknown_coding_)
        return fail(501, "Of all transfer codings only chunked is known here");
    if (has_transfer_coding_ && !is_http_11_)
        return fail(400, "HTTP/1.0 has no Transfer-Encoding");

    const auto target = origin_form(out_.target);
    if (!target)
        return fail(400, "The request target must be a path: " + quote(out_.target));
    if (target->size() != out_.target.size())
        out_.target = std::string(*target);
    const std::string_view sent = out_.target;
    const auto question = sent.find('?');
    auto path = percent_decode(sent.substr(0, question));
    if (!path)
        out_.target_error =
            "The path is not well-formed percent-encoded UTF-8: " + quote(sent.substr(0, question));
    out_.path = path ? std::move(*path) : std::string(sent.substr(0, question));
    if (question != std::string_view::npos) {
        const auto query = sent.substr(question + 1, sent.find('#', question) - question - 1);
        auto pairs = parse_query(query);
        if (pairs)
            out_.query = std::move(*pairs);
        else if (out_.target_error.empty())
            out_.target_error =
                "The query is not well-formed percent-encoded UTF-8: " + quote(query);
    }
    return expected_bytes() > body_limit_ ? progress::body_too_large : progress::header;
}

void request_parser::on_request_impl(beast_http::verb, string_view method_text, string_view target,
                                     int version, error_code&)
{
    out_.method = as_std(method_text);
    out_.target = as_std(target);
    is_http_11_ = version >= 11;
}

void request_parser::on_field_impl(beast_http::field name, string_view name_text,
                                   string_view content, error_code&)
{
    if (!in_header_)
        return; // RFC 9112 7.1.2: trailer fields may be discarded
    switch (name) {
    case beast_http::field::host:
        ++hosts_;
        break;
    case beast_http::field::expect:
        expects_continue_ = equals_ignoring_ascii_case(as_std(content), "100-continue");
        break;
    case beast_http::field::transfer_encoding:
        has_transfer_coding_ = true;
        has_unknown_coding_ =
            has_unknown_coding_ || !equals_ignoring_ascii_case(trim(as_std(content)), "chunked");
        break;
    default:
        break;
    }
    if (out_.headers.empty())
        out_.headers.reserve(16);
    out_.headers.emplace_back(as_std(name_text), as_std(content));
}

void request_parser::on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&)
{
    if (length && *length <= body_limit_)
        out_.body.reserve(static_cast<std::size_t>(std::min(*length, max_reserved)));
}

std::size_t request_parser::on_body_impl(string_view bytes, error_code& error)
{
    if (bytes.size() > body_limit_ - out_.body.size()) {
        error = beast_http::error::body_limit;
        return 0;
    }
    out_.body.append(as_std(bytes));
    return bytes.size();
}

std::size_t request_parser::on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error)
{
    return on_body_impl(bytes, error);
}

} // namespace tempinbox::http
