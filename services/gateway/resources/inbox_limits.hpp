#pragma once

#include <cstddef>
#include <cstdint>

namespace tempinbox::gateway {

// Limits on the fields of an inbox, for creation and change.
constexpr std::size_t max_name_length = 100;
constexpr std::size_t max_tags = 10;
constexpr std::size_t max_tag_length = 50;
// RFC 5321 4.5.3.1.3: of a path, without its brackets. What stands before the @ and what stands
// behind it fit together.
constexpr std::size_t max_address_length = 254;
constexpr std::size_t max_local_part_length = 63;
constexpr std::size_t max_domain_length = max_address_length - max_local_part_length - 1;
constexpr std::size_t max_metadata = 20;
constexpr std::size_t max_metadata_key_length = 50;
constexpr std::size_t max_metadata_value_length = 500;
constexpr std::int64_t min_ttl = 60;
// For which an inbox keeps mail, if it has a time of its own for that.
constexpr std::int64_t min_age_seconds = 60;
constexpr std::int64_t max_age_seconds = 31'622'400;
// Inboxes that one request creates.
constexpr std::size_t max_batch = 100;

} // namespace tempinbox::gateway
