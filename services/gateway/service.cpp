#include "gateway/service.hpp"

#include "common/events/events.hpp"
#include "gateway/quota/rate_limit_headers.hpp"
#include "gateway/site/base_path.hpp"
#include "gateway/site/documentation.hpp"
#include "gateway/site/downloads.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

// Each step gets a part of the drain time, so one that hangs leaves time for the next.
constexpr auto publish_timeout = 3s;
constexpr auto flush_timeout = 1s;

} // namespace

// What the header alone decides is answered before the body is read.
http::server_hooks service::make_hooks()
{
    http::server_hooks hooks;
    hooks.judge_header = [this](http::request& received) { return judge_header(received); };
    hooks.complete_own_response = [&clock = host_.clock()](const http::request&,
                                                           http::response& response) {
        complete_response_without_account(response, clock.now());
    };
    return hooks;
}

service::service(runtime::host& host, settings chosen)
    : host_(host),
      settings_(std::move(chosen)),
      admin_(host),
      traces_(host),
      core_(host, settings_),
      api_(host, settings_, core_),
      dashboard_(host, settings_, core_),
      mail_events_(host, settings_.kafka,
                   {events::topics::inbox_activity, events::topics::inbox_expired,
                    events::topics::feed_activity},
                   [this](const std::vector<kafka::record>& batch) { take_events(batch); }),
      server_(
          host, settings_.api, [this](http::request& received) { return handle(received); },
          make_hooks())
{
    add_documentation(site_, settings_.base_path);
    add_downloads(site_, read_downloads(settings_.download_files), core_.response_memory);
}

void service::take_events(const std::vector<kafka::record>& batch)
{
    core_.long_polls.take_events(batch);
    api_.take_events(batch);
    dashboard_.take_events(batch);
}

std::optional<http::response> service::judge_header(http::request& received)
{
    remove_base_path(received, settings_.base_path);
    if (api_.serves(received.path))
        return api_.judge_header(received);
    if (dashboard::serves(received.path))
        return dashboard_.judge_header(received);
    return std::nullopt;
}

awaitable<http::response> service::handle(http::request& received)
{
    return settings_.base_path.empty() ? dispatch(received) : handle_below_base_path(received);
}

awaitable<http::response> service::handle_below_base_path(http::request& received)
{
    auto response = co_await dispatch(received);
    add_base_path(response, settings_.base_path);
    co_return response;
}

awaitable<http::response> service::dispatch(http::request& received)
{
    if (api_.serves(received.path))
        return api_.handle(received);
    if (dashboard::serves(received.path))
        return dashboard_.handle(received);
    return site_.dispatch(received);
}

void service::start()
{
    admin_.start();
    traces_.start();
    core_.start();
    api_.start();
    dashboard_.start();
    mail_events_.start();
    server_.start();
}

awaitable<void> service::drain()
{
    // Requests: those that wait are ended, the others may finish.
    core_.interrupt();
    api_.interrupt();
    dashboard_.interrupt();
    co_await server_.drain(host_.settings().drain_timeout - publish_timeout - flush_timeout);
    // Background work, and the usage and key uses that the requests left behind.
    mail_events_.stop();
    co_await core_.stop(flush_timeout);
    co_await api_.stop();
    co_await dashboard_.stop();
    // Events come last: nothing adds any now.
    co_await core_.publish_rest(publish_timeout);
    co_await traces_.drain(otlp::drain_timeout);
    server_.stop();
}

} // namespace tempinbox::gateway
