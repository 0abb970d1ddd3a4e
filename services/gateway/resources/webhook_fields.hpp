#pragma once

#include "common/json/object_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

inline constexpr std::size_t max_webhook_url_length = 2'048;
inline constexpr std::size_t max_webhook_description_length = 200;

// The names of all event types.
std::vector<std::string> all_events();
// The body's `events` without duplicates; absent if the field is absent.
std::optional<std::vector<std::string>> read_events(json::object_reader& body);

} // namespace tempinbox::gateway
