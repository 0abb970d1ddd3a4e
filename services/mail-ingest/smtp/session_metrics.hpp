#pragma once

#include "common/metrics/registry.hpp"
#include "mail-ingest/smtp/proxy_header.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// The counters of sessions, looked up in the registry once.
class session_metrics
{
public:
    explicit session_metrics(metrics::registry& registry);

    void session_began() { active_.Increment(); }
    void session_ended() { active_.Decrement(); }
    void turned_away(std::string_view reason);
    // On a listener for balancers: how many connections wait for their header.
    void set_awaited_headers(std::size_t count)
    {
        awaited_headers_.Set(static_cast<double>(count));
    }
    void header_accepted(const proxy_header& header);
    void header_refused(std::string_view reason);
    // A connection that waited for its header was closed to make room.
    void header_evicted() { evicted_headers_.Increment(); }
    void recipient(std::string_view outcome);
    // Without a code there was no reply; without a time it is not one of ordinary mail.
    void transaction(std::string_view result, int code, std::optional<double> seconds);
    // The connection ended during a message.
    void aborted();

private:
    void count_transaction(std::string_view result, const std::string& code_class);
    prometheus::Counter& counter(std::string_view name, std::string_view help,
                                 const metrics::labels& with);

    metrics::registry& registry_;
    prometheus::Gauge& active_;
    prometheus::Gauge& awaited_headers_;
    prometheus::Counter& evicted_headers_;
    prometheus::Histogram& duration_;
    std::map<std::string, prometheus::Counter*, std::less<>> counters_;
};

} // namespace tempinbox::smtp
