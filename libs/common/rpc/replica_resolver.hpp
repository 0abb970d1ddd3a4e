#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/http/client.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::rpc {

// Where a replica is called, and which name it was configured by: its certificate is for that.
struct replica
{
    replica(host_port where) : at(std::move(where)), name(at.host) {}
    replica(host_port where, std::string configured)
        : at(std::move(where)),
          name(std::move(configured))
    {}
    bool operator==(const replica&) const = default;

    host_port at;
    std::string name;
};

// The replicas behind a list of host:port: addresses stand for themselves, names for everything
// they resolve to, looked up every three seconds. A name that does not resolve keeps its last
// addresses. Reports when the list changed.
class replica_resolver
{
public:
    using change = std::function<void(const std::vector<replica>&)>;

    // `custom_resolver` empty: the system's resolver.
    replica_resolver(runtime::host& host, std::vector<host_port> configured, change on_change,
                     http::resolver custom_resolver = {});
    replica_resolver(const replica_resolver&) = delete;

    void start();
    awaitable<void> stop() { return task_.stop(); }

    // Resolves every name once; without `start` the caller decides when.
    awaitable<void> refresh();
    // Without names there is nothing to resolve.
    bool has_names() const;

private:
    awaitable<std::chrono::microseconds> step();

    runtime::host& host_;
    std::vector<host_port> configured_;
    change on_change_;
    http::resolver custom_resolver_;
    std::map<std::string, std::vector<host_port>> found_; // of each name and port, as last resolved
    std::vector<replica> reported_;
    async::periodic_task task_;
};

} // namespace tempinbox::rpc
