#include "common/rpc/replica_resolver.hpp"

#include "common/http/resolve.hpp"
#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::rpc {
namespace {

using namespace std::chrono_literals;

constexpr auto interval = 3s;
constexpr auto resolve_timeout = 2s;

bool is_address(const std::string& host)
{
    boost::system::error_code error;
    boost::asio::ip::make_address(host, error);
    return !error;
}

std::string text_of(const std::vector<host_port>& configured)
{
    std::string text;
    for (const auto& each : configured)
        text += (text.empty() ? "" : ",") + each.text();
    return text;
}

} // namespace

replica_resolver::replica_resolver(runtime::host& host, std::vector<host_port> configured,
                                   change on_change, http::resolver custom_resolver)
    : host_(host),
      configured_(std::move(configured)),
      on_change_(std::move(on_change)),
      custom_resolver_(std::move(custom_resolver)),
      reported_(configured_.begin(), configured_.end()),
      task_(host.executor(), host.metrics(), "resolve_replicas", [this] { return step(); })
{}

bool replica_resolver::has_names() const
{
    return std::any_of(configured_.begin(), configured_.end(),
                       [](const auto& each) { return !is_address(each.host); });
}

void replica_resolver::start()
{
    if (has_names())
        task_.start();
}

awaitable<std::chrono::microseconds> replica_resolver::step()
{
    co_await refresh();
    co_return interval;
}

awaitable<void> replica_resolver::refresh()
{
    std::vector<replica> replicas;
    for (const auto& each : configured_) {
        if (is_address(each.host)) {
            replicas.emplace_back(each);
            continue;
        }
        const auto outcome =
            co_await http::resolve(host_.loop(), custom_resolver_, each.host,
                                   std::chrono::steady_clock::now() + resolve_timeout);
        auto& last = found_[each.text()];
        if (!outcome.addresses.empty()) {
            last.clear();
            for (const auto& address : outcome.addresses)
                last.emplace_back(address.to_string(), each.port);
        } else if (last.empty()) {
            last.push_back(each); // it may resolve by the time it is called
        }
        for (const auto& address : last)
            replicas.emplace_back(address, each.host);
    }
    // An address behind several names is one replica, under the first of them.
    const auto by_address = [](const replica& a, const replica& b) {
        return a.at.text() < b.at.text();
    };
    const auto is_same = [](const replica& a, const replica& b) { return a.at == b.at; };
    std::stable_sort(replicas.begin(), replicas.end(), by_address);
    replicas.erase(std::unique(replicas.begin(), replicas.end(), is_same), replicas.end());
    if (replicas == reported_)
        co_return;
    reported_ = replicas;
    log::info("replicas changed", {{"of", text_of(configured_)}, {"replicas", replicas.size()}});
    on_change_(replicas);
}

} // namespace tempinbox::rpc
