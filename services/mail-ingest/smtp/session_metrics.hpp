#pragma once

#include "common/metrics/registry.hpp"

#include <map>
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
    void recipient(std::string_view outcome);
    void transaction(std::string_view result, int code, double seconds);
    // The connection ended during a message.
    void aborted();

private:
    void count_transaction(std::string_view result, const std::string& code_class);
    prometheus::Counter& counter(std::string_view name, std::string_view help,
                                 const metrics::labels& with);

    metrics::registry& registry_;
    prometheus::Gauge& active_;
    prometheus::Histogram& duration_;
    std::map<std::string, prometheus::Counter*, std::less<>> counters_;
};

} // namespace tempinbox::smtp
