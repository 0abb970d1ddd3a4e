#pragma once

#include "common/async/batcher.hpp"
#include "common/core/lru_cache.hpp"
#include "common/runtime/host.hpp"
#include "gateway/clients/inbox_client.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tempinbox::gateway {

// Caches lists of an inbox's emails by the inbox's version. For every request the current version
// is requested from the inbox service, after the request came: many versions in one call, each one
// row where a list reads many. So a cached list is never older than its request. Used on one
// thread.
class list_cache
{
public:
    using inbox_name = std::pair<std::string, std::string>; // ids of account and inbox

    // Larger lists are not cached.
    static constexpr std::size_t max_list_bytes = 256 * 1024;

    // `max_bytes` in all; 0 caches nothing. After `ttl` a list is read anew, in case two states
    // ever had the same version (a database restored to an earlier state).
    list_cache(runtime::host& host, std::size_t max_bytes, std::chrono::milliseconds ttl,
               inbox_client& inboxes);

    // The cached list of an equal request if its version is still current.
    awaitable<std::optional<std::string>> find(const inbox::v1::ListEmailsRequest& request);

    // `version` is that of the list from which `json` was made; if it is empty, nothing is cached.
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
    async::keyed_batcher<inbox_name, std::string> versions_;
    prometheus::Counter& unchanged_;
    prometheus::Counter& changed_;
    prometheus::Counter& unknown_;
    prometheus::Gauge& bytes_;
};

} // namespace tempinbox::gateway
