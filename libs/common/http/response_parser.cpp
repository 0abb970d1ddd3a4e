#include "common/http/response_parser.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace tempinbox::http {
namespace {

namespace beast_http = boost::beast::http;

constexpr std::uint64_t max_reserved = 1024 * 1024;

std::string_view as_std(boost::beast::string_view text)
{
    return {text.data(), text.size()};
}

} // namespace

response_parser::response_parser(client_response& out, bool is_head_response, std::uint32_t limit,
                                 std::uint64_t max_body)
    : out_(out),
      header_limit_(limit),
      body_limit_(max_body)
{
    header_limit(limit);
    body_limit(boost::none); // counted here: the part that fits is kept
    eager(true);
    skip(is_head_response);
}

std::size_t response_parser::feed(std::string_view bytes)
{
    error_code error;
    const bool was_header = in_header_;
    const auto used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (was_header && in_header_) {
        // Beast bounds single fields, but not their sum when they arrive in pieces.
        header_bytes_ += used;
        if (error == beast_http::error::header_limit ||
            header_bytes_ + (bytes.size() - used) >= header_limit_) {
            state_ = progress::header_too_large;
            return used;
        }
    }
    if (error == beast_http::error::need_more)
        state_ = progress::need_more;
    else if (error == beast_http::error::body_limit)
        state_ = progress::body_too_large;
    else if (error == beast_http::error::header_limit)
        state_ = progress::header_too_large;
    else if (error) {
        state_ = progress::malformed;
        reason_ = error.message();
    } else
        state_ = is_done() ? progress::complete : progress::need_more;
    return used;
}

void response_parser::finish()
{
    error_code error;
    if (got_some())
        put_eof(error);
    else
        error = beast_http::error::end_of_stream;
    state_ = error ? progress::malformed : progress::complete;
    if (error)
        reason_ = "the connection closed in the middle of a response";
}

void response_parser::on_response_impl(int code, string_view, int, error_code&)
{
    out_.status = static_cast<unsigned>(code);
}

void response_parser::on_field_impl(beast_http::field, string_view name_text, string_view content,
                                    error_code&)
{
    if (in_header_)
        out_.headers.emplace_back(as_std(name_text), as_std(content));
}

void response_parser::on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&)
{
    if (length)
        out_.body.reserve(static_cast<std::size_t>(std::min({*length, max_reserved, body_limit_})));
}

std::size_t response_parser::on_body_impl(string_view bytes, error_code& error)
{
    const auto room = body_limit_ - out_.body.size();
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size()));
    out_.body.append(as_std(bytes).substr(0, kept));
    if (kept < bytes.size())
        error = beast_http::error::body_limit;
    return kept;
}

std::size_t response_parser::on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error)
{
    return on_body_impl(bytes, error);
}

} // namespace tempinbox::http
