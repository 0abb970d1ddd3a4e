#pragma once

#include "common/core/errors.hpp"
#include "common/core/secret.hpp"
#include "common/http/message.hpp"
#include "common/json/value.hpp"

#include <cstdint>
#include <string>

namespace tempinbox::cli {

// The body of the webhook `email.received` for an email of the API.
std::string webhook_payload(const json::value& email);

// The bytes behind `whsec_…`, as webhooks are signed with.
result<secret> read_webhook_secret(const std::string& text);

// The headers of a webhook: Standard Webhooks' three, signed with the key, which may be empty (then
// there is no signature), and the attempt's number. The id is the email's, as a webhook's is.
http::header_list webhook_headers(const std::string& email_id, std::int64_t unix_seconds,
                                  const std::string& body, const secret& key, unsigned attempt);

} // namespace tempinbox::cli
