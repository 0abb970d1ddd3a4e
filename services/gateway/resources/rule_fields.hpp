#pragma once

#include "common/json/object_reader.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

inline constexpr std::size_t max_rule_name_length = 100;

// Reads the fields of a rule's body. Errors go to `body` and name the field's path:
// `conditions[0].value must have …`.
std::optional<std::string> read_webhook_id(json::object_reader& body);
std::optional<std::vector<webhooks::v1::Condition>> read_conditions(json::object_reader& body);

} // namespace tempinbox::gateway
