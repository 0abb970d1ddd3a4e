#pragma once

#include <cstddef>
#include <cstdint>

namespace tempinbox::gateway {

// What the fields of an inbox may hold, when it is made and when it is changed.
constexpr std::size_t longest_name = 100;
constexpr std::size_t most_tags = 10;
constexpr std::size_t longest_tag = 50;
constexpr std::size_t longest_address = 254; // RFC 5321 4.5.3.1.3: of a path, without its brackets
constexpr std::size_t most_metadata = 20;
constexpr std::size_t longest_metadata_key = 50;
constexpr std::size_t longest_metadata_value = 500;
constexpr std::int64_t shortest_ttl = 60;

} // namespace tempinbox::gateway
