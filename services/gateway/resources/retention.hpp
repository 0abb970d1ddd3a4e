#pragma once

#include "common/json/object_reader.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <optional>

namespace tempinbox::gateway {

// Reads `retention` of an inbox's body; errors are left to its reader. Null: as inboxes of its kind
// have it. Null as the age: mail is kept as long as its inbox.
std::optional<inbox::v1::RetentionChange> read_retention(json::object_reader& body);

} // namespace tempinbox::gateway
