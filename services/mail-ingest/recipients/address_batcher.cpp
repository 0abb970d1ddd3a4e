#include "mail-ingest/recipients/address_batcher.hpp"

namespace tempinbox::mail_ingest {
namespace {

constexpr std::size_t max_addresses = 500;

using found_addresses = std::map<std::string, std::optional<mailbox::known_address>>;

awaitable<found_addresses> look_up(mailbox::domain_repository& store,
                                   std::vector<std::string> addresses)
{
    found_addresses results;
    for (const auto& address : addresses)
        results.emplace(address, std::nullopt);
    for (auto& one : co_await store.find_addresses(std::move(addresses)))
        results.at(one.address) = std::move(one);
    co_return results;
}

} // namespace

address_batcher::address_batcher(runtime::host& host, mailbox::domain_repository& store,
                                 std::chrono::milliseconds timeout)
    : calls_(host.executor(), {.max_items = max_addresses, .timeout = timeout},
             "addresses cannot be looked up", [&store](std::vector<std::string> addresses) {
                 return look_up(store, std::move(addresses));
             })
{}

awaitable<address_batcher::result> address_batcher::find(std::string address)
{
    result given;
    if (auto found = co_await calls_.ask(std::move(address))) {
        given.is_known = true;
        given.found = std::move(*found);
    }
    co_return given;
}

} // namespace tempinbox::mail_ingest
