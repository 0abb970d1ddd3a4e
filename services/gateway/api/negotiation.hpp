#pragma once

#include "common/http/message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// The values of a header given once or several times, as one list (RFC 9110 5.3). Absent: nothing.
std::optional<std::string> joined_header(const http::request& received, std::string_view name);

// Which of the media types a client is offered its Accept header prefers (RFC 9110 12.5.1): the
// highest quality, of equal ones the earlier. Without the header the first; nothing where none will
// do.
std::optional<std::size_t> choose_media_type(const std::optional<std::string>& accept,
                                             const std::vector<std::string>& offers);

// Whether If-None-Match names this strong tag or any (RFC 9110 13.1.2; tags compare weakly).
bool matches_etag(const http::request& received, std::string_view etag);

// A file name as a parameter of Content-Disposition: attachment (RFC 6266, RFC 8187). The ASCII
// form stands in for clients that know no other.
std::string attachment_disposition(std::string_view filename);

} // namespace tempinbox::gateway
