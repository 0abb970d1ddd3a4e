#pragma once

#include "common/http/message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// All values of a header, given once or several times, as one list (RFC 9110 5.3). Absent: the
// header is absent.
std::optional<std::string> joined_header(const http::request& received, std::string_view name);

// The index of the offered media type that Accept prefers (RFC 9110 12.5.1): the highest quality,
// and among equals the earlier offer. Without the header it is the first offer. Absent: Accept
// allows no offer.
std::optional<std::size_t> choose_media_type(const std::optional<std::string>& accept,
                                             const std::vector<std::string>& offers);

// Whether If-None-Match names this strong tag or `*` (RFC 9110 13.1.2; tags compare weakly).
bool matches_etag(const http::request& received, std::string_view etag);

// A Content-Disposition of `attachment` with this file name (RFC 6266, RFC 8187), in which control
// characters, path separators and a dot in front are underscores. The ASCII form is for clients
// that know no other.
std::string attachment_disposition(std::string_view filename);

} // namespace tempinbox::gateway
