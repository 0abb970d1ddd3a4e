#include "gateway/surfaces/dashboard.hpp"

#include "gateway/dashboard/routes.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

// Between full batches of the purge, so requests go first.
constexpr auto purge_batch_delay = 10ms;
constexpr auto purge_interval = 60s;

} // namespace

dashboard::dashboard(runtime::host& host, const settings& chosen, core& shared)
    : accounts_(shared.accounts),
      keys_(shared.db),
      sign_in_(shared.db),
      session_lookups_(sign_in_, shared.strangers),
      session_day_(shared.quota, chosen.session_requests_a_day, host.clock().now()),
      event_stream_(
          host, [this](std::string digest) { return is_open(std::move(digest)); },
          event_stream::check_times()),
      gate_(sign_in_, shared.strangers),
      purge_task_(host.executor(), host.metrics(), "purge_sessions", [this] { return purge(); }),
      hasher_(host),
      session_issuer_(sign_in_, session_lookups_, chosen.trusted_proxies),
      sign_ins_(accounts_, sign_in_, gate_, hasher_, session_issuer_, event_stream_,
                chosen.who_signs_up, chosen.relay.is_set()),
      passwords_(sign_in_, gate_, hasher_, session_issuer_, event_stream_),
      relay_(host, chosen.relay),
      webhook_notices_(host, disabled_webhook_notices(shared.webhooks, relay_.dashboard_url()),
                       accounts_, relay_),
      inbox_notices_(host, ending_inbox_notices(shared.inboxes, relay_.dashboard_url()), accounts_,
                     relay_),
      email_verification_(accounts_, sign_in_, gate_, hasher_, session_issuer_, relay_,
                          chosen.who_signs_up),
      pipeline_(host.clock(), open_dashboard_operations(sign_ins_, passwords_, email_verification_),
                dashboard_operations(shared.services(chosen.captures), keys_, sign_ins_, passwords_,
                                     event_stream_, session_issuer_),
                dashboard_parts{session_lookups_, session_day_, shared.quota, shared.idempotency,
                                shared.inboxes, shared.response_memory},
                chosen.trusted_proxies),
      assets_(chosen.dashboard_files, chosen.base_path)
{}

void dashboard::start()
{
    purge_task_.start();
    webhook_notices_.start();
    inbox_notices_.start();
}

awaitable<void> dashboard::stop()
{
    co_await purge_task_.stop();
    co_await webhook_notices_.stop();
    co_await inbox_notices_.stop();
    hasher_.stop();
    relay_.stop();
}

bool dashboard::serves(std::string_view path)
{
    return dashboard_pipeline::serves(path) || dashboard_assets::serves(path);
}

refusal dashboard::judge_header(http::request& received) const
{
    if (dashboard_pipeline::serves(received.path))
        return pipeline_.judge_header(received);
    return std::nullopt;
}

awaitable<http::response> dashboard::handle(http::request& received)
{
    if (dashboard_pipeline::serves(received.path))
        return pipeline_.handle(received);
    return handle_asset(received);
}

awaitable<http::response> dashboard::handle_asset(http::request& received)
{
    received.route = "/dashboard/{file}";
    co_return assets_.handle(received);
}

awaitable<bool> dashboard::is_open(std::string session_digest)
{
    const auto account = co_await sign_in_.find_session(std::move(session_digest));
    co_return account.has_value();
}

awaitable<std::chrono::microseconds> dashboard::purge()
{
    const int ended = co_await sign_in_.purge();
    const int left = co_await accounts_.purge();
    const bool is_done = ended < accounts::sign_in_repository::batch_size &&
                         left < accounts::account_repository::batch_size;
    co_return is_done ? std::chrono::microseconds(purge_interval)
                      : std::chrono::microseconds(purge_batch_delay);
}

} // namespace tempinbox::gateway
