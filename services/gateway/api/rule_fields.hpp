#pragma once

#include "common/json/object_reader.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

inline constexpr std::size_t max_rule_name_length = 100;

// The fields of a rule's body. Problems go to `body`, named by their place: `conditions[0].value
// must have …`.
std::optional<std::string> read_webhook_id(json::object_reader& body);
std::optional<std::vector<webhooks::v1::Condition>> read_conditions(json::object_reader& body);

// For an object inside the body: what is wrong with it becomes a problem of the body.
void report_inner_error(json::object_reader& body, const std::string& field_path,
                        json::object_reader& inner);

} // namespace tempinbox::gateway
