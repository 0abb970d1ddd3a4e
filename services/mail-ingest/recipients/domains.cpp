#include "mail-ingest/recipients/domains.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds max_age{1};

} // namespace

domains::domains(runtime::host& host, mailbox::domain_repository& store,
                 std::chrono::milliseconds timeout)
    : host_(host),
      store_(store),
      timeout_(timeout)
{}

// An empty name means the default domain.
awaitable<domains::status> domains::find(std::string domain)
{
    const auto is_cached = [&] { return domain.empty() ? !default_.empty() : has(domain); };
    const auto is_fresh = [&] {
        return refreshed_at_ && std::chrono::steady_clock::now() - *refreshed_at_ < max_age;
    };
    if (!is_cached() && !is_fresh())
        co_await refresh();
    if (is_cached())
        co_return status::ours;
    co_return is_fresh() ? status::foreign : status::unknown;
}

awaitable<void> domains::refresh()
{
    if (!under_way_) {
        under_way_ = std::make_shared<async::reset_event>(host_.executor());
        boost::asio::co_spawn(host_.executor(), run_refresh(under_way_), boost::asio::detached);
    }
    const auto mine = under_way_;
    co_await mine->wait_until(async::deadline::after(timeout_));
}

awaitable<void> domains::run_refresh(std::shared_ptr<async::reset_event> done)
{
    const auto started_at = std::chrono::steady_clock::now();
    try {
        const auto found = co_await store_.list();
        const auto previous = std::exchange(cached_, {});
        default_.clear();
        for (const auto& one : found) {
            cached_.insert(one.name);
            if (one.is_default)
                default_ = one.name;
            if (!one.operator_account && !previous.contains(one.name))
                log::warning("domain has no operator: postmaster and abuse are refused",
                             {{"domain", one.name}});
        }
        refreshed_at_ = started_at;
    } catch (const std::exception& error) {
        log::warning("domains cannot be read", {{"error", error.what()}});
    }
    under_way_.reset();
    done->set();
}

} // namespace tempinbox::mail_ingest
