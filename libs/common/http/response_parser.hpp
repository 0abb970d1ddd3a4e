#pragma once

#include "common/http/client.hpp"
#include "common/http/request_parser.hpp"

#include <boost/beast/http/basic_parser.hpp>

namespace tempinbox::http {

// Reads one HTTP/1.x response into a `client_response`, whose status is set as soon as the status
// line is read. Interim responses (1xx) end as complete ones without a body; the caller reads on
// with another parser.
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
    bool leaves_connection_open() const { return is_header_done() && keep_alive(); }

private:
    using string_view = boost::beast::string_view;
    using error_code = boost::beast::error_code;

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
    bool in_header_ = true;
    progress state_ = progress::need_more;
    std::string reason_;
};

} // namespace tempinbox::http
