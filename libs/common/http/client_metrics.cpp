// The client of a process with metrics stands in a unit of its own: a program without them links
// neither this nor the metrics' library.
#include "common/http/client.hpp"

namespace tempinbox::http {
namespace {

prometheus::Counter& handshakes(runtime::host& host, const char* is_resumed)
{
    return host.metrics().counter("http_client_tls_handshakes_total",
                                  "TLS handshakes of outgoing connections",
                                  {{"resumed", is_resumed}});
}

client_settings count_handshakes(runtime::host& host, client_settings settings)
{
    auto& full = handshakes(host, "false");
    auto& resumed = handshakes(host, "true");
    settings.on_handshake = [&full, &resumed](bool is_resumed) {
        (is_resumed ? resumed : full).Increment();
    };
    return settings;
}

} // namespace

client::client(runtime::host& host, client_settings settings)
    : client(host.loop(), count_handshakes(host, std::move(settings)))
{}

} // namespace tempinbox::http
