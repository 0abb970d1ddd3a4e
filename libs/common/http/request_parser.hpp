#pragma once

#include "common/http/message.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::http {

// What a parser found so far. `header` is reported once, between header and body.
enum class progress { need_more, header, complete, malformed, header_too_large, body_too_large };

// Whether bytes of a chunked body may be the beginning of its last chunk (`0`, CRLF, CRLF) without
// the end. They wait for more: Beast aborts where it is offered fewer than five bytes after it has
// seen the size of that chunk.
constexpr bool may_begin_last_chunk(std::string_view bytes)
{
    return bytes.size() < 5 && bytes.starts_with('0');
}

// Reads one HTTP/1.x request straight into a `request`. Bounds header and body; refuses what RFC
// 9112 calls unsafe to guess about (two lengths, two hosts, unknown transfer codings). Bytes may
// come in pieces; feed those it did not use again, with more after them.
class request_parser : private boost::beast::http::basic_parser<true>
{
public:
    request_parser(request& out, std::uint32_t header_limit, std::uint64_t body_limit);

    // How many bytes were used; `state()` says what is next.
    std::size_t feed(std::string_view bytes);
    progress state() const { return state_; }

    // Valid once `state()` is malformed: the status to respond with and a sentence for the sender.
    unsigned status() const { return status_; }
    const std::string& reason() const { return reason_; }

    // Valid from `header` on.
    bool is_http_11() const { return is_http_11_; }
    bool wants_keep_alive() const { return is_parsed() && keep_alive(); }
    bool expects_continue() const { return expects_continue_; }
    bool is_in_body() const { return !in_header_; }
    // The announced length of the body; 0 where it is chunked or absent.
    std::uint64_t expected_bytes() const { return is_parsed() ? content_length().value_or(0) : 0; }

private:
    using string_view = boost::beast::string_view;
    using error_code = boost::beast::error_code;

    bool is_parsed() const { return is_header_done(); }
    progress fail(unsigned status, std::string reason);
    progress check_header();

    void on_request_impl(boost::beast::http::verb method, string_view method_text,
                         string_view target, int version, error_code&) override;
    void on_response_impl(int, string_view, int, error_code&) override {}
    void on_field_impl(boost::beast::http::field name, string_view name_text, string_view content,
                       error_code&) override;
    void on_header_impl(error_code&) override { in_header_ = false; }
    void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&) override;
    std::size_t on_body_impl(string_view bytes, error_code& error) override;
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) override;
    void on_finish_impl(error_code&) override {}

    request& out_;
    std::uint32_t header_limit_;
    std::uint64_t body_limit_;
    std::size_t header_bytes_ = 0;
    unsigned hosts_ = 0;
    bool is_http_11_ = false;
    bool expects_continue_ = false;
    bool has_unknown_coding_ = false;
    bool has_transfer_coding_ = false;
    bool in_header_ = true;
    progress state_ = progress::need_more;
    unsigned status_ = 400;
    std::string reason_;
};

} // namespace tempinbox::http
