#include "mail-ingest/directory/look_ups.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::mail_ingest {
namespace {

constexpr std::size_t most_at_once = 500;

} // namespace

look_ups::look_ups(runtime::host& host, mailbox::address_store& store, std::chrono::milliseconds patience)
    : host_(host),
      store_(store),
      patience_(patience)
{}

awaitable<look_ups::answer> look_ups::find(std::string address)
{
    auto& entry = waiting_[address];
    if (!entry)
        entry = std::make_shared<question>(host_.executor(), patience_);
    const auto mine = entry;
    if (!std::exchange(is_running_, true))
        boost::asio::co_spawn(host_.executor(), run(), boost::asio::detached);
    co_await mine->done.wait();
    co_return mine->answer;
}

awaitable<void> look_ups::run()
{
    while (!waiting_.empty()) {
        questions asked;
        while (!waiting_.empty() && asked.size() < most_at_once)
            asked.insert(waiting_.extract(waiting_.begin()));
        co_await ask(std::move(asked));
    }
    is_running_ = false;
}

awaitable<void> look_ups::ask(questions asked)
{
    std::vector<std::string> addresses;
    for (const auto& [address, one] : asked)
        addresses.push_back(address);
    try {
        auto found = co_await store_.find(std::move(addresses));
        for (auto& one : asked)
            one.second->answer.is_known = true;
        for (auto& one : found) {
            auto& waiting = asked.at(one.address)->answer.found;
            waiting = std::move(one);
        }
    } catch (const std::exception& error) {
        log::warning("addresses cannot be looked up", {{"error", error.what()}, {"addresses", asked.size()}});
    }
    for (auto& one : asked)
        one.second->done.reach();
}

} // namespace tempinbox::mail_ingest
