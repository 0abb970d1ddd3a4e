#include "common/http/server_metrics.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::http {
namespace {

std::string_view known_method(std::string_view method)
{
    constexpr std::array<std::string_view, 7> known{"GET",    "POST", "PUT",    "PATCH",
                                                    "DELETE", "HEAD", "OPTIONS"};
    const auto found = std::find(known.begin(), known.end(), method);
    return found == known.end() ? std::string_view("_OTHER") : *found;
}

} // namespace

server_metrics::server_metrics(metrics::registry& registry, std::string server_name)
    : registry_(registry),
      name_(std::move(server_name)),
      connections_(registry_.gauge("http_server_connections", "Open connections of an HTTP server",
                                   {{"server", name_}})),
      active_(registry_.gauge("http_server_active_requests",
                              "Requests of which the response is not sent yet, long polls included",
                              {{"server", name_}})),
      refused_(registry_.counter("http_server_connections_refused_total",
                                 "Connections answered 503 because the server had too many",
                                 {{"server", name_}})),
      refused_by_address_(registry_.counter(
          "http_server_connections_refused_by_address_total",
          "Connections answered 503 because their address had too many", {{"server", name_}})),
      idle_closed_(registry_.counter("http_server_idle_connections_closed_total",
                                     "Idle connections closed to make room for new ones",
                                     {{"server", name_}})),
      slow_closed_(registry_.counter(
          "http_server_slow_connections_closed_total",
          "Connections closed in their handshake or header to make room for new ones",
          {{"server", name_}}))
{}

void server_metrics::observe(std::string_view method, std::string_view route, unsigned status,
                             std::chrono::duration<double> took)
{
    const series_view key{known_method(method), route.empty() ? std::string_view("none") : route,
                          status};
    auto found = series_.find(key);
    if (found == series_.end()) {
        auto& histogram = registry_.histogram(
            "http_server_request_duration_seconds",
            "Time from a request's header to the end of its response", metrics::wait_buckets(),
            {{"http_request_method", std::string(std::get<0>(key))},
             {"http_route", std::string(std::get<1>(key))},
             {"http_response_status_code", std::to_string(status)},
             {"server", name_}});
        found = series_.emplace(series_key(std::get<0>(key), std::get<1>(key), status), &histogram)
                    .first;
    }
    found->second->Observe(took.count());
}

} // namespace tempinbox::http
