#include "mail-ingest/directory/look_ups.hpp"

namespace tempinbox::mail_ingest {
namespace {

constexpr std::size_t most_at_once = 500;

using found_addresses = std::map<std::string, std::optional<mailbox::known_address>>;

awaitable<found_addresses> look_up(mailbox::address_store& store,
                                   std::vector<std::string> addresses)
{
    found_addresses answers;
    for (const auto& address : addresses)
        answers.emplace(address, std::nullopt);
    for (auto& one : co_await store.find(std::move(addresses)))
        answers.at(one.address) = std::move(one);
    co_return answers;
}

} // namespace

look_ups::look_ups(runtime::host& host, mailbox::address_store& store,
                   std::chrono::milliseconds patience)
    : calls_(host.executor(), most_at_once, patience, "addresses cannot be looked up",
             [&store](std::vector<std::string> addresses) {
                 return look_up(store, std::move(addresses));
             })
{}

awaitable<look_ups::answer> look_ups::find(std::string address)
{
    answer given;
    if (auto found = co_await calls_.ask(std::move(address))) {
        given.is_known = true;
        given.found = std::move(*found);
    }
    co_return given;
}

} // namespace tempinbox::mail_ingest
