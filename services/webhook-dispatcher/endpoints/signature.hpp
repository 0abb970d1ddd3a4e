#pragma once

#include "common/core/errors.hpp"
#include "common/core/secret.hpp"
#include "common/core/time.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::webhooks {

// A new signing secret as receivers keep it: `whsec_` and 24 random bytes in base64 (Standard
// Webhooks, "Signature scheme").
secret make_signing_secret();

// The bytes behind `whsec_…`. Fails unless there are 24–64 of them.
result<secret> read_signing_secret(const secret& text);

// Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; one for each key,
// separated by spaces, so that a receiver may hold either while a secret is rotated. Keys are the
// bytes, not the text.
std::string sign(const std::vector<secret>& keys, std::string_view id, time_point timestamp,
                 std::string_view body);

} // namespace tempinbox::webhooks
