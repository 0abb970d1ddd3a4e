#include "mail-ingest/directory/domains.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds fresh_for{1};

} // namespace

domains::domains(runtime::host& host, mailbox::domain_store& store,
                 std::chrono::milliseconds patience)
    : host_(host),
      store_(store),
      patience_(patience)
{}

// An empty name means the default domain.
awaitable<domains::standing> domains::find(std::string domain)
{
    const auto is_known = [&] { return domain.empty() ? !default_.empty() : has(domain); };
    const auto is_fresh = [&] {
        return fresh_as_of_ && std::chrono::steady_clock::now() - *fresh_as_of_ < fresh_for;
    };
    if (!is_known() && !is_fresh())
        co_await refresh();
    if (is_known())
        co_return standing::ours;
    co_return is_fresh() ? standing::foreign : standing::unknown;
}

awaitable<void> domains::refresh()
{
    if (!under_way_) {
        under_way_ = std::make_shared<runtime::wait_point>(host_.executor(), patience_);
        boost::asio::co_spawn(host_.executor(), run_refresh(under_way_), boost::asio::detached);
    }
    const auto mine = under_way_;
    co_await mine->wait();
}

awaitable<void> domains::run_refresh(std::shared_ptr<runtime::wait_point> done)
{
    const auto asked_at = std::chrono::steady_clock::now();
    try {
        const auto found = co_await store_.list();
        const auto known_before = std::exchange(known_, {});
        default_.clear();
        for (const auto& one : found) {
            known_.insert(one.name);
            if (one.is_default)
                default_ = one.name;
            if (!one.operator_account && !known_before.contains(one.name))
                log::warning("domain has no operator: postmaster and abuse are refused",
                             {{"domain", one.name}});
        }
        fresh_as_of_ = asked_at;
    } catch (const std::exception& error) {
        log::warning("domains cannot be read", {{"error", error.what()}});
    }
    under_way_.reset();
    done->reach();
}

} // namespace tempinbox::mail_ingest
