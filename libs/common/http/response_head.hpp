#pragma once

#include "common/http/message.hpp"

#include <string>

namespace tempinbox::http {

// What a response's head needs besides the response.
struct head_options
{
    std::string_view date; // IMF-fixdate
    std::string_view request_id;
    bool is_http_11 = true;
    bool is_kept = true; // the connection stays open afterwards
    bool is_streamed =
        false; // length unknown: chunked, or for HTTP/1.0 ended by closing the connection
};

// Status line and header section with Date, Content-Length, Connection and X-Request-Id. Only the
// server sets framing: the handlers' own framing fields are left out, and control characters in
// values become spaces.
void append_response_head(std::string& out, const response& answer, const head_options& options);

// 1xx, 204 and 304 have no content (RFC 9110 6.4.1).
bool status_has_content(unsigned status);

// IMF-fixdate (RFC 9110 5.6.7) of the current second, formatted once a second.
class date_header
{
public:
    std::string_view text();

private:
    std::int64_t second_ = -1;
    std::string text_;
};

} // namespace tempinbox::http
