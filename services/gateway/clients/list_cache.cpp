#include "gateway/clients/list_cache.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::size_t max_inboxes_per_call = 500;
constexpr auto version_timeout = 1s;        // then the list itself is read
constexpr std::size_t entry_overhead = 256; // besides its texts
constexpr const char* help =
    "Lists of an inbox's emails, by whether the cached list was still current";
constexpr const char* name = "tempinbox_gateway_list_requests_total";

using inbox_name = list_cache::inbox_name;
using versions = std::map<inbox_name, std::string>;

awaitable<versions> read_versions(inbox_client& service, std::vector<inbox_name> inboxes)
{
    inbox::v1::GetListVersionsRequest request;
    for (const auto& [account, inbox] : inboxes) {
        auto& added = *request.add_inboxes();
        added.set_account_id(account);
        added.set_inbox_id(inbox);
    }
    auto found = co_await service.try_call(inbox_methods::get_list_versions, std::move(request));
    versions found_versions;
    if (!found || found->versions_size() != static_cast<int>(inboxes.size()))
        co_return found_versions;
    for (std::size_t i = 0; i < inboxes.size(); ++i)
        found_versions.emplace(std::move(inboxes[i]),
                               std::move(*found->mutable_versions(static_cast<int>(i))));
    co_return found_versions;
}

// Fields are serialized in the order of their numbers, so equal requests have equal keys.
std::string key_of(const inbox::v1::ListEmailsRequest& request)
{
    return request.SerializeAsString();
}

} // namespace

std::size_t list_cache::bytes_held::operator()(const std::string& key,
                                               const shared_list& list) const
{
    return entry_overhead + key.size() + list->json.size() + list->version.size();
}

list_cache::list_cache(runtime::host& host, std::size_t max_bytes, std::chrono::milliseconds ttl,
                       inbox_client& inboxes)
    : max_bytes_(max_bytes),
      ttl_(ttl),
      lists_(max_bytes),
      versions_(host.executor(), {.max_items = max_inboxes_per_call, .timeout = version_timeout},
                "list versions cannot be read",
                [&inboxes](std::vector<inbox_name> names) {
                    return read_versions(inboxes, std::move(names));
                }),
      unchanged_(host.metrics().counter(name, help, {{"outcome", "unchanged"}})),
      changed_(host.metrics().counter(name, help, {{"outcome", "changed"}})),
      unknown_(host.metrics().counter(name, help, {{"outcome", "unknown"}})),
      bytes_(host.metrics().gauge("tempinbox_gateway_list_cache_bytes",
                                  "Bytes of cached lists of emails"))
{}

awaitable<std::optional<std::string>> list_cache::find(const inbox::v1::ListEmailsRequest& request)
{
    const auto cached = find_fresh(key_of(request));
    if (!cached) {
        unknown_.Increment();
        co_return std::nullopt;
    }
    const auto version =
        co_await versions_.ask(inbox_name(request.account_id(), request.inbox_id()));
    if (version != cached->version) {
        changed_.Increment();
        co_return std::nullopt;
    }
    unchanged_.Increment();
    co_return cached->json;
}

list_cache::shared_list list_cache::find_fresh(const std::string& key)
{
    const auto* found = lists_.find(key);
    if (!found)
        return nullptr;
    if (steady::now() - (*found)->read_at < ttl_)
        return *found;
    lists_.erase(key);
    return nullptr;
}

void list_cache::store(const inbox::v1::ListEmailsRequest& request, const std::string& version,
                       const std::string& json)
{
    if (version.empty() || json.size() > std::min(max_list_bytes, max_bytes_ / 4))
        return;
    auto list = std::make_shared<cached_list>();
    list->version = version;
    list->json = json;
    list->read_at = steady::now();
    lists_.put(key_of(request), std::move(list));
    bytes_.Set(static_cast<double>(lists_.weight()));
}

} // namespace tempinbox::gateway
