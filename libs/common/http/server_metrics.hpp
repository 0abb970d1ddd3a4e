#pragma once

#include "common/metrics/registry.hpp"

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace tempinbox::http {

// A server's figures: open connections and how long requests took, by method, route and status.
// Series are looked up once and kept; unknown methods and routes share one label each, so that a
// scan does not fill the registry.
class server_metrics
{
public:
    server_metrics(metrics::registry& registry, std::string server_name);

    void connection_opened() { connections_.Increment(); }
    void connection_closed() { connections_.Decrement(); }
    // A request that is being answered; counts as long as it lives.
    class active_request
    {
    public:
        explicit active_request(server_metrics& metrics) : metrics_(metrics)
        {
            metrics_.active_.Increment();
        }
        ~active_request() { metrics_.active_.Decrement(); }
        active_request(const active_request&) = delete;

    private:
        server_metrics& metrics_;
    };
    void connection_refused() { refused_.Increment(); }
    void address_refused() { refused_by_address_.Increment(); }
    void idle_closed() { idle_closed_.Increment(); }
    void slow_closed() { slow_closed_.Increment(); }
    void observe(std::string_view method, std::string_view route, unsigned status,
                 std::chrono::duration<double> took);

private:
    using series_key = std::tuple<std::string, std::string, unsigned>;
    using series_view = std::tuple<std::string_view, std::string_view, unsigned>;

    struct order
    {
        using is_transparent = void;
        template <class A, class B>
        bool operator()(const A& a, const B& b) const
        {
            return std::tuple(std::string_view(std::get<0>(a)), std::string_view(std::get<1>(a)),
                              std::get<2>(a)) < std::tuple(std::string_view(std::get<0>(b)),
                                                           std::string_view(std::get<1>(b)),
                                                           std::get<2>(b));
        }
    };

    metrics::registry& registry_;
    std::string name_;
    prometheus::Gauge& connections_;
    prometheus::Gauge& active_;
    prometheus::Counter& refused_;
    prometheus::Counter& refused_by_address_;
    prometheus::Counter& idle_closed_;
    prometheus::Counter& slow_closed_;
    std::map<series_key, prometheus::Histogram*, order> series_;
};

} // namespace tempinbox::http
