#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/secret.hpp"
#include "common/http/client.hpp"

#include <string>

namespace tempinbox::ctl {

// A schema registry that speaks Confluent's protocol.
struct schema_registry
{
    std::string url;
    std::string user; // of HTTP's basic authentication; empty: none
    secret password;
};

// Registers a Protobuf schema; the registry keeps one that it has already. Returns the GUID by
// which records name it. The failure holds the registry's own words: conflict if the schema does
// not fit those of the subject, unavailable if it cannot be reached.
awaitable<result<uuid>> register_schema(http::sender send, schema_registry registry,
                                        std::string subject, std::string schema);

} // namespace tempinbox::ctl
