#include "common/otlp/exporter.hpp"

#include "common/core/version.hpp"
#include "common/log/log.hpp"
#include "common/otlp/encoding.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace tempinbox::otlp {
namespace {

using namespace std::chrono_literals;

// OpenTelemetry SDK, "Batching processor"
constexpr std::size_t max_batch_spans = 512;
constexpr auto flush_interval = 5s;
// How often the queue is looked at: at 80,000 spans a second it does not overflow between two.
constexpr auto poll_interval = 100ms;
constexpr auto retry_time = 60s;
constexpr std::chrono::milliseconds first_retry_delay = 500ms;
constexpr std::chrono::milliseconds max_retry_delay = 15s;

http::client_settings client_settings(const trace::settings& chosen)
{
    http::client_settings settings;
    settings.connections_per_host = 1;
    settings.body_limit = 64 * 1024;
    settings.ca_file = chosen.ca_file;
    return settings;
}

std::optional<std::string> environment_variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<std::chrono::seconds> read_seconds(std::optional<std::string_view> text)
{
    if (!text)
        return std::nullopt;
    int seconds = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (error != std::errc{} || end != text->data() + text->size() || seconds < 0)
        return std::nullopt;
    return std::chrono::seconds(seconds);
}

std::chrono::milliseconds backoff(int attempts)
{
    return std::min(max_retry_delay, first_retry_delay * (1 << std::min(attempts - 1, 10)));
}

} // namespace

export_decision judge(const http::client_response& response)
{
    using enum export_decision::step;
    export_decision decision;
    if (response.error != http::exchange_error::none) {
        decision.next = retry;
        return decision;
    }
    switch (response.status) {
    case 429:
    case 502:
    case 503:
    case 504:
        decision.next = retry;
        decision.retry_after = read_seconds(response.header("Retry-After"));
        break;
    default:
        decision.next = response.status / 100 == 2 ? done : give_up;
    }
    return decision;
}

exporter::exporter(runtime::host& host)
    : host_(host),
      next_flush_(steady::now() + flush_interval),
      task_(host.executor(), host.metrics(), "export_spans", [this] { return step(); })
{
    if (!host.tracer().is_on())
        return;
    resource_ =
        resource_of(host.name(), host.instance(), host.settings().trace, environment_variable);
    exported_ = &host.metrics().counter("tempinbox_spans_exported_total",
                                        "Spans of traces that were delivered");
    const auto& ca_file = host.settings().trace.ca_file;
    client_.emplace(host, client_settings(host.settings().trace));
    if (!ca_file.empty())
        ca_file_ = host.files().watch("otel-exporter-otlp-certificate", {ca_file},
                                      [this] { client_->reload_trust(); });
}

void exporter::start()
{
    if (client_)
        task_.start();
}

awaitable<std::chrono::microseconds> exporter::step()
{
    const bool is_due = host_.tracer().queued() >= max_batch_spans || steady::now() >= next_flush_;
    if (!batch_ && !(is_due && begin_batch()))
        co_return poll_interval;
    co_return co_await attempt(host_.settings().trace.timeout);
}

// False if nothing is queued.
bool exporter::begin_batch()
{
    next_flush_ = steady::now() + flush_interval;
    const auto spans = host_.tracer().take(max_batch_spans);
    if (spans.empty())
        return false;
    batch next;
    next.body = encode(resource_, spans);
    next.spans = spans.size();
    next.give_up = steady::now() + retry_time;
    batch_ = std::move(next);
    return true;
}

// Returns the time until the next attempt or batch.
awaitable<std::chrono::milliseconds> exporter::attempt(std::chrono::milliseconds timeout)
{
    const auto& chosen = host_.settings().trace;
    http::client_request outgoing;
    outgoing.method = "POST";
    outgoing.url = chosen.endpoint;
    outgoing.headers = chosen.headers;
    outgoing.headers.emplace_back("Content-Type", "application/json");
    outgoing.headers.emplace_back("User-Agent", "TempInbox-OTLP/" + std::string(version()));
    outgoing.body = batch_->body;
    outgoing.deadline = timeout;
    const auto response = co_await client_->send(std::move(outgoing));

    ++batch_->attempts;
    const auto decision = judge(response);
    const auto delay = decision.retry_after.value_or(
        std::chrono::ceil<std::chrono::seconds>(backoff(batch_->attempts)));
    switch (decision.next) {
    case export_decision::step::done: {
        const auto rejected = std::min(rejected_spans(response.body), batch_->spans);
        if (rejected > 0)
            host_.tracer().note_dropped("rejected", rejected);
        exported_->Increment(static_cast<double>(batch_->spans - rejected));
        batch_.reset();
        if (std::exchange(is_failing_, false))
            log::info("spans are exported again");
        co_return host_.tracer().queued() >= max_batch_spans ? 0ms : poll_interval;
    }
    case export_decision::step::retry:
        if (steady::now() + delay < batch_->give_up)
            co_return delay;
        drop_batch("unavailable", response);
        break;
    case export_decision::step::give_up:
        drop_batch("refused", response);
        break;
    }
    co_return poll_interval;
}

void exporter::drop_batch(std::string_view reason, const http::client_response& response)
{
    host_.tracer().note_dropped(reason, batch_->spans);
    if (!std::exchange(is_failing_, true))
        log::warning("spans were not exported", {{"reason", reason},
                                                 {"spans", batch_->spans},
                                                 {"status", response.status},
                                                 {"error", response.error_text}});
    batch_.reset();
}

awaitable<void> exporter::drain(std::chrono::milliseconds timeout)
{
    if (!client_)
        co_return;
    const auto end = steady::now() + timeout;
    co_await task_.stop();
    for (;;) {
        if (!batch_ && !begin_batch())
            co_return;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - steady::now());
        if (left.count() <= 0)
            break;
        batch_->give_up = steady::now(); // there is no time for another attempt
        co_await attempt(std::min(left, host_.settings().trace.timeout));
    }
    host_.tracer().note_dropped("shutdown", batch_->spans + host_.tracer().queued());
    host_.tracer().take(trace::tracer::max_queued);
    batch_.reset();
}

} // namespace tempinbox::otlp
