#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/client.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

struct name_resolver_settings
{
    std::string servers; // `address:port`, comma-separated; empty: the system's
    std::chrono::milliseconds deadline{2'000};
    std::chrono::milliseconds cache_ttl{30'000};
};

// Looks up host names by c-ares on the loop, so that a slow name delays no other. Each name has one
// look-up at a time (single flight); addresses are cached for a short time. Throws
// boost::system::system_error: host_not_found if the name does not exist or has no address,
// host_not_found_try_again if no server could say.
class name_resolver
{
public:
    name_resolver(runtime::host& host, name_resolver_settings chosen = {});
    ~name_resolver();
    name_resolver(const name_resolver&) = delete;

    awaitable<std::vector<boost::asio::ip::address>> resolve(std::string name);

    // In the form that the HTTP client takes. This object must outlive the client's exchanges.
    http::resolver function();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::webhooks
