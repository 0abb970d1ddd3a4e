#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/client.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace tempinbox::otlp {

// What an attempt to deliver spans led to (OTLP 1.x, "OTLP/HTTP Response").
struct export_decision
{
    enum class step { done, retry, give_up } next = step::give_up;
    // For a retry: what the receiver asked for; absent: it did not say.
    std::optional<std::chrono::seconds> retry_after;
};
export_decision judge(const http::client_response& response);

// What a service gives to `drain` at its end.
inline constexpr std::chrono::milliseconds drain_timeout{2'000};

// Sends the host's spans to the OTLP endpoint, in batches of up to 512, at the latest 5 s after
// they ended. A receiver that is away or busy (429, 502, 503, 504) is asked again, with growing
// delays or when it says, for a minute; then the batch is dropped, while newer spans wait in the
// tracer's queue. Delivered spans are counted in tempinbox_spans_exported_total. Does nothing while
// tracing is off. A failed export disturbs nothing else: it is logged once until one succeeds. The
// certificates that are trusted are read again when their file changes.
class exporter
{
public:
    explicit exporter(runtime::host& host);

    void start();
    // Delivers what is queued, within the time; drops the rest.
    awaitable<void> drain(std::chrono::milliseconds timeout);

private:
    using steady = std::chrono::steady_clock;

    struct batch
    {
        std::string body;
        std::size_t spans = 0;
        int attempts = 0;
        steady::time_point give_up;
    };

    awaitable<std::chrono::microseconds> step();
    bool begin_batch();
    awaitable<std::chrono::milliseconds> attempt(std::chrono::milliseconds timeout);
    void drop_batch(std::string_view reason, const http::client_response& response);

    runtime::host& host_;
    trace::attribute_list resource_;
    prometheus::Counter* exported_ = nullptr; // without tracing there is no such metric
    std::optional<http::client> client_;
    runtime::file_watch::subscription ca_file_; // trusted by the client
    std::optional<batch> batch_;                // under way, or waiting for its next attempt
    steady::time_point next_flush_;
    bool is_failing_ = false;
    async::periodic_task task_;
};

} // namespace tempinbox::otlp
