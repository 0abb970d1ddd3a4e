#include "common/http/response_parser.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <limits>

namespace tempinbox::http {
namespace {

namespace beast_http = boost::beast::http;

constexpr std::uint64_t max_reserved = 1024 * 1024;

std::string_view as_std(boost::beast::string_view text)
{
    return {text.data(), text.size()};
}

constexpr bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// Without blanks at both ends. Of white space no other is one in a header: a bare CR stays, and is
// refused.
std::string_view trim_blanks(std::string_view text)
{
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

bool is_token_list(std::string_view value)
{
    return beast_http::validate_list(beast_http::opt_token_list({value.data(), value.size()}));
}

} // namespace

response_parser::response_parser(client_response& out, bool is_head_response, std::uint32_t limit,
                                 std::uint64_t max_body)
    : out_(out),
      header_limit_(limit),
      body_limit_(max_body)
{
    header_limit(std::numeric_limits<std::uint32_t>::max()); // counted here, as it was sent
    body_limit(boost::none);                                 // as well: the part that fits is kept
    eager(true);
    skip(is_head_response);
}

std::size_t response_parser::feed(std::string_view bytes)
{
    std::size_t used = 0;
    if (in_header_) {
        used = feed_head(bytes);
        if (in_header_ || state_ != progress::need_more)
            return used;
    }
    const auto rest = bytes.substr(used);
    if (rest.empty() || (chunked() && may_begin_last_chunk(rest)))
        return used;
    return used + parse(rest);
}

// Keeps lines that are not whole, so that a head in many pieces is looked through once.
std::size_t response_parser::feed_head(std::string_view bytes)
{
    std::size_t used = 0;
    while (used < bytes.size() && in_header_ && state_ == progress::need_more) {
        const auto line_feed = bytes.find('\n', used);
        const bool is_whole = line_feed != std::string_view::npos;
        const auto piece = bytes.substr(used, is_whole ? line_feed + 1 - used : line_feed);
        if (header_bytes_ + piece.size() > header_limit_) {
            state_ = progress::header_too_large;
            return used;
        }
        used += piece.size();
        header_bytes_ += piece.size();
        line_.append(piece);
        if (is_whole)
            take_line();
    }
    if (in_header_ && state_ == progress::need_more && header_bytes_ == header_limit_)
        state_ = progress::header_too_large;
    return used;
}

void response_parser::take_line()
{
    std::string whole;
    whole.swap(line_);
    std::string_view line = whole;
    line.remove_suffix(1);
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    else
        is_irregular_ = true; // RFC 9112 2.2: a line feed alone may end a line of the head

    if (!has_status_line_) {
        // An empty line is the end of a body before it that announced less than it sent.
        if (!line.empty())
            take_status_line(line);
        return;
    }
    if (!line.empty() && is_blank(line.front())) {
        // RFC 9112 5.2: a folded value goes on after one blank. No value stands behind the status
        // line.
        if (field_.empty())
            fail("a header line begins with a blank");
        else
            field_.append(" ").append(trim_blanks(line));
        return;
    }
    take_field();
    field_ = line;
    if (!line.empty() || state_ != progress::need_more)
        return;
    head_.append("\r\n");
    parse(head_);
    head_ = std::string();
}

// RFC 9112 4: of the phrase a client takes no notice, so it need not be there, nor the blank before
// it.
void response_parser::take_status_line(std::string_view line)
{
    constexpr std::string_view protocol = "HTTP/1.";
    has_status_line_ = true;
    if (!line.starts_with(protocol) || line.size() <= protocol.size() ||
        !tempinbox::is_digit(line[protocol.size()]))
        return fail("it does not begin with HTTP/1.1 or HTTP/1.0");
    // RFC 9110 2.5: a higher minor version is read as the highest that is known.
    is_http_10_ = line[protocol.size()] == '0';
    line.remove_prefix(protocol.size() + 1);
    if (line.empty() || !is_blank(line.front()))
        return fail("bad status line");
    line = trim_blanks(line);
    const auto code = line.substr(0, 3);
    if (code.size() < 3 || !std::all_of(code.begin(), code.end(), tempinbox::is_digit) ||
        code[0] == '0' || (line.size() > code.size() && !is_blank(line[code.size()])))
        return fail("bad status");
    if (line.find('\r') != std::string_view::npos)
        return fail("bad line ending");
    std::string regular(is_http_10_ ? "HTTP/1.0 " : "HTTP/1.1 ");
    regular.append(code).append(" \r\n");
    parse(regular);
}

// Beast judges names and values.
void response_parser::take_field()
{
    if (field_.empty() || state_ != progress::need_more)
        return;
    const std::string_view field = field_;
    const auto colon = field.find(':');
    if (colon == std::string_view::npos)
        return fail("a header line has no colon");
    const auto name = trim_blanks(field.substr(0, colon));
    const auto value = trim_blanks(field.substr(colon + 1));
    // RFC 9112 5.1: blanks before the colon are removed from a response.
    if (name.size() != colon)
        is_irregular_ = true;

    if (equals_ignoring_ascii_case(name, "Content-Length"))
        has_length_ = true;
    if (equals_ignoring_ascii_case(name, "Transfer-Encoding"))
        has_transfer_coding_ = true;
    // RFC 9112 6.3: a length beside a transfer coding is how responses are smuggled.
    if (has_length_ && has_transfer_coding_)
        return fail("it has both Content-Length and Transfer-Encoding");
    // RFC 9112 6.1: HTTP/1.0 has no transfer codings, so this connection ends with the response.
    if (has_transfer_coding_ && is_http_10_)
        is_irregular_ = true;
    if (equals_ignoring_ascii_case(name, "Connection") && !is_token_list(value)) {
        // Nothing but the reuse of the connection depends on it.
        is_irregular_ = true;
        out_.headers.emplace_back(name, value);
        return;
    }
    head_.append(name).append(": ").append(value).append("\r\n");
}

std::size_t response_parser::parse(std::string_view bytes)
{
    error_code error;
    const auto used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (error == beast_http::error::need_more)
        state_ = progress::need_more;
    else if (error == beast_http::error::body_limit)
        state_ = progress::body_too_large;
    else if (error == beast_http::error::header_limit)
        state_ = progress::header_too_large;
    else if (error)
        fail(error.message());
    else
        state_ = is_done() ? progress::complete : progress::need_more;
    return used;
}

void response_parser::fail(std::string_view reason)
{
    state_ = progress::malformed;
    reason_ = reason;
}

void response_parser::finish()
{
    error_code error;
    if (got_some())
        put_eof(error);
    else
        error = beast_http::error::end_of_stream;
    state_ = progress::complete;
    if (error)
        fail("the connection closed in the middle of a response");
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
