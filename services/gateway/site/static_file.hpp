#pragma once

#include "common/http/message.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// Content that is fixed for the life of the program. It has an ETag, so a client that has it
// already gets 304 (RFC 9110 13.1.2). The content outlives the object.
class static_file
{
public:
    static_file(std::string_view content_type, std::string_view content);

    // GET and HEAD.
    http::response handle(const http::request& received) const;
    const std::string& etag() const { return etag_; }

private:
    std::string_view content_type_;
    std::string_view content_;
    std::string etag_;
};

} // namespace tempinbox::gateway
