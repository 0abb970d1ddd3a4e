#pragma once

#include "common/http/client.hpp"
#include "common/http/request_parser.hpp"

#include <boost/beast/http/basic_parser.hpp>

namespace tempinbox::http {

// Reads one HTTP/1.x response into a `client_response`, whose status is set as soon as the status
// line is read. Interim responses (1xx) end as complete ones without a body; the caller reads on
// with another parser.
// Takes heads as servers in the field write them: bare line feeds, no phrase, blanks too many.
// Where a body ends is never guessed: lengths that disagree, a length beside a transfer coding and
// chunks that are not written as RFC 9112 7.1 has them are malformed.
class response_parser : private boost::beast::http::basic_parser<false>
{
public:
    response_parser(client_response& out, bool is_head_response, std::uint32_t header_limit,
                    std::uint64_t body_limit);

    // How many bytes were used; `state()` says what is next.
    std::size_t feed(std::string_view bytes);
    // The peer closed: the response is complete if its body ends that way, else malformed.
    void finish();
    progress state() const { return state_; }
    const std::string& reason() const { return reason_; }
    bool is_in_body() const { return !in_header_; }

    // Valid once complete.
    bool leaves_connection_open() const
    {
        return is_header_done() && keep_alive() && !is_irregular_;
    }

private:
    using string_view = boost::beast::string_view;
    using error_code = boost::beast::error_code;

    std::size_t feed_head(std::string_view bytes);
    void take_line();
    void take_status_line(std::string_view line);
    void take_field();
    // Gives Beast bytes of the message and sets `state_`.
    std::size_t parse(std::string_view bytes);
    void fail(std::string_view reason);

    void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                         error_code&) override
    {}
    void on_response_impl(int code, string_view reason, int version, error_code&) override;
    void on_field_impl(boost::beast::http::field, string_view name_text, string_view content,
                       error_code&) override;
    void on_header_impl(error_code&) override { in_header_ = false; }
    void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&) override;
    std::size_t on_body_impl(string_view bytes, error_code& error) override;
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) override;
    void on_finish_impl(error_code&) override {}

    client_response& out_;
    std::uint32_t header_limit_;
    std::uint64_t body_limit_;
    std::size_t header_bytes_ = 0;
    std::string line_;  // what came of the current line of the head
    std::string field_; // the field before it, which that line may continue
    std::string head_;  // all fields before that one, written as RFC 9112 has them
    bool is_http_10_ = false;
    bool has_status_line_ = false;
    bool has_length_ = false;
    bool has_transfer_coding_ = false;
    // Another reader of this head may have found another end of the body.
    bool is_irregular_ = false;
    bool in_header_ = true;
    progress state_ = progress::need_more;
    std::string reason_;
};

} // namespace tempinbox::http
