#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "mime/view.hpp"

#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace tempinbox::inbox {

// An attachment with its decoded bytes.
struct part
{
    mime::attachment about;
    std::string content;
};

// Reads messages on its own threads, since a large one would block the loop too long. If messages
// under way exceed `max_bytes`, it returns unavailable.
class mail_reader
{
public:
    static constexpr std::size_t default_max_bytes = 256 * 1024 * 1024;

    explicit mail_reader(int threads, const mime::view_limits& limits = {},
                         std::size_t max_bytes = default_max_bytes)
        : limits_(limits),
          max_bytes_(max_bytes),
          threads_(static_cast<std::size_t>(threads))
    {}

    awaitable<result<mime::view>> read(std::string raw);

    // Absent if the message has no such part.
    awaitable<result<std::optional<part>>> read_part(std::string raw, std::string attachment_id);

private:
    std::optional<failure> refuse(std::size_t bytes) const;

    const mime::view_limits limits_;
    const std::size_t max_bytes_;
    std::size_t bytes_under_way_ = 0;
    boost::asio::thread_pool threads_;
};

} // namespace tempinbox::inbox
