#include "gateway/site/static_file.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

// RFC 9110 8.8.3.2: If-None-Match compares weakly.
bool names(std::string_view entity_tags, std::string_view etag)
{
    const auto listed = split_list(entity_tags);
    return std::any_of(listed.begin(), listed.end(), [etag](std::string_view tag) {
        if (tag.starts_with("W/"))
            tag.remove_prefix(2);
        return tag == etag || tag == "*";
    });
}

} // namespace

static_file::static_file(std::string_view content_type, std::string_view content)
    : content_type_(content_type),
      content_(content),
      etag_("\"" + to_hex(crypto::sha256(content)).substr(0, 32) + "\"")
{}

http::response static_file::handle(const http::request& received) const
{
    const auto if_none_match = received.header("If-None-Match");
    http::response response;
    if (if_none_match && names(*if_none_match, etag_)) {
        response.status = 304;
    } else {
        response.set("Content-Type", content_type_);
        response.body = content_;
    }
    response.set("ETag", etag_);
    // Cached but revalidated, since the next release may have other content.
    response.set("Cache-Control", "no-cache");
    response.set("X-Content-Type-Options", "nosniff");
    return response;
}

} // namespace tempinbox::gateway
