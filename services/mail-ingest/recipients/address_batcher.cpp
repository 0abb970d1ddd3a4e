#include "mail-ingest/recipients/address_batcher.hpp"

#include <map>
#include <set>
#include <vector>

namespace tempinbox::mail_ingest {
namespace {

constexpr std::size_t max_recipients = 500;

using results = std::map<address_keys, address_batcher::result>;

std::optional<mailbox::known_address>
find_in(const std::map<std::string, mailbox::known_address>& found, const std::string& address)
{
    const auto known = found.find(address);
    return known == found.end() ? std::nullopt : std::optional(known->second);
}

awaitable<results> look_up(mailbox::domain_repository& store, std::vector<address_keys> asked)
{
    std::set<std::string> addresses;
    for (const auto& keys : asked)
        for (const auto& address : {keys.exact, keys.catch_all})
            if (!address.empty())
                addresses.insert(address);
    std::map<std::string, mailbox::known_address> found;
    std::vector<std::string> all(addresses.begin(), addresses.end());
    for (auto& one : co_await store.find_addresses(std::move(all)))
        found.emplace(one.address, std::move(one));

    results answers;
    for (const auto& keys : asked) {
        auto& answer = answers[keys];
        answer.is_known = true;
        answer.exact = find_in(found, keys.exact);
        answer.catch_all = find_in(found, keys.catch_all);
    }
    co_return answers;
}

} // namespace

address_batcher::address_batcher(runtime::host& host, mailbox::domain_repository& store,
                                 std::chrono::milliseconds timeout)
    : calls_(host.executor(), {.max_items = max_recipients, .timeout = timeout},
             "addresses cannot be looked up",
             [&store](std::vector<address_keys> asked) { return look_up(store, std::move(asked)); })
{}

awaitable<address_batcher::result> address_batcher::find(address_keys keys)
{
    auto found = co_await calls_.ask(std::move(keys));
    co_return found ? std::move(*found) : result();
}

} // namespace tempinbox::mail_ingest
