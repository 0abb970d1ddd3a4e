#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::kafka {

using header_list = std::vector<std::pair<std::string, std::string>>;

// What is sent.
struct message
{
    std::string topic;
    std::string key;
    std::string value;
    header_list headers;
    bool is_tombstone = false; // null value, for compacted topics
};

// What is read.
struct record
{
    std::string topic;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::string key;
    std::string value;
    bool is_tombstone = false;
    header_list headers;
    std::int64_t timestamp_millis = 0;

    // The last one of that name (W3C: last wins).
    std::optional<std::string_view> header(std::string_view name) const;
};

} // namespace tempinbox::kafka
