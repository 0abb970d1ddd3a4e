#pragma once

#include "common/async/periodic_task.hpp"
#include "common/metrics/registry.hpp"
#include "common/runtime/file_watch.hpp"
#include "common/tls/context_source.hpp"
#include "common/tls/verification.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace tempinbox::tls {

// What a server's new connections are made with. The source outlives this, but then stays as it is.
struct watched_certificate
{
    context_source current;
    runtime::file_watch::subscription watched;
    std::shared_ptr<async::periodic_task> verification; // while there is a client_view
};

// Adds to each context what a single protocol needs.
using preparation = void (*)(boost::asio::ssl::context&);

// A server's certificate and key (PEM files).
struct certificate_files
{
    std::string setting; // the certificate's, for log lines and metrics: one for each server
    std::string certificate;
    std::string key;
    // Whether clients take it is shown as a metric; absent: they do not verify it.
    std::optional<client_view> verified_by = std::nullopt;
    // It is verified at each load, when the authorities' file changes, and so often besides, since
    // certificates expire and the system's authorities change while these files stay as they are.
    std::chrono::milliseconds verified_each = std::chrono::hours(1);
};

// A certificate and its key for TLS 1.2 and later, read again when either file changes. A pair that
// does not load, as between the two writes of a renewal, leaves the old one in use. A metric shows
// when the certificate in use ends. Throws std::runtime_error if the first pair does not load.
watched_certificate watch_certificate(runtime::file_watch& files, metrics::registry& metrics,
                                      const certificate_files& pair, preparation prepare);

} // namespace tempinbox::tls
