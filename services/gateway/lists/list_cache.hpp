#pragma once

#include "common/core/lru_cache.hpp"
#include "common/runtime/gathered_calls.hpp"
#include "common/runtime/host.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tempinbox::gateway {

// Answers to lists of an inbox's emails, given again for as long as the inbox's emails are what
// they were. Whether they are, the inbox service is asked for each request after it came: many in
// one call, one row each, where a list is many. So a list from here is never older than its
// request. Used on one thread.
class list_cache
{
public:
    using version_source = std::function<awaitable<result<inbox::v1::GetListVersionsResponse>>(
        inbox::v1::GetListVersionsRequest)>;

    using inbox_name = std::pair<std::string, std::string>; // ids of account and inbox

    // Larger answers are not kept.
    static constexpr std::size_t max_list_bytes = 256 * 1024;

    // `most` bytes in all; 0 keeps nothing. After `longest` a list is read anew, should two states
    // ever have had the same version (a database that was put back to an earlier one).
    list_cache(runtime::host& host, std::size_t max_bytes, std::chrono::milliseconds ttl,
               version_source source);

    // What was kept of the same request, where it is still right.
    awaitable<std::optional<std::string>> find(const inbox::v1::ListEmailsRequest& request);

    // `version` as it came with the list that `json` was made of; empty: not kept.
    void store(const inbox::v1::ListEmailsRequest& request, const std::string& version,
               const std::string& json);

private:
    struct cached_list
    {
        std::string version;
        std::string json;
        std::chrono::steady_clock::time_point read_at;
    };
    using shared_list = std::shared_ptr<const cached_list>;

    struct bytes_held
    {
        std::size_t operator()(const std::string& key, const shared_list& list) const;
    };

    shared_list find_fresh(const std::string& key);

    std::size_t max_bytes_;
    std::chrono::milliseconds ttl_;
    lru_cache<std::string, shared_list, bytes_held> lists_;
    runtime::gathered_calls<inbox_name, std::string> versions_;
    prometheus::Counter& unchanged_;
    prometheus::Counter& changed_;
    prometheus::Counter& unknown_;
    prometheus::Gauge& bytes_;
};

} // namespace tempinbox::gateway
