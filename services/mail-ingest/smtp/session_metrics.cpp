#include "mail-ingest/smtp/session_metrics.hpp"

namespace tempinbox::smtp {

session_metrics::session_metrics(metrics::registry& registry)
    : registry_(registry),
      active_(registry.gauge("tempinbox_smtp_sessions_active", "Open SMTP sessions")),
      awaited_headers_(registry.gauge("tempinbox_mail_ingest_proxy_waiting_connections",
                                      "Connections that wait for their PROXY header")),
      evicted_headers_(registry.counter("tempinbox_mail_ingest_proxy_evicted_connections_total",
                                        "Connections without a PROXY header closed to make room")),
      duration_(
          registry.histogram("tempinbox_smtp_transaction_duration_seconds",
                             "Time from the first accepted RCPT to the final reply of a message",
                             metrics::wait_buckets()))
{}

void session_metrics::turned_away(std::string_view reason)
{
    counter("tempinbox_mail_ingest_connections_refused_total",
            "Connections refused before the greeting", {{"reason", std::string(reason)}})
        .Increment();
}

void session_metrics::header_accepted(const proxy_header& header)
{
    counter("tempinbox_mail_ingest_proxy_headers_total", "PROXY headers accepted",
            {{"version", header.version == 1 ? "v1" : "v2"},
             {"kind", std::string(to_text(header.what))}})
        .Increment();
}

void session_metrics::header_refused(std::string_view reason)
{
    counter("tempinbox_mail_ingest_proxy_headers_refused_total",
            "Connections closed for their PROXY header", {{"reason", std::string(reason)}})
        .Increment();
}

void session_metrics::recipient(std::string_view outcome)
{
    counter("tempinbox_mail_ingest_recipients_total", "RCPT commands by outcome",
            {{"outcome", std::string(outcome)}})
        .Increment();
}

void session_metrics::transaction(std::string_view result, int code, std::optional<double> seconds)
{
    const char first = static_cast<char>('0' + code / 100);
    count_transaction(result, code == 0 ? "none" : std::string(1, first) + "xx");
    if (seconds)
        duration_.Observe(*seconds);
}

void session_metrics::aborted()
{
    count_transaction("aborted", "none");
}

void session_metrics::count_transaction(std::string_view result, const std::string& code_class)
{
    counter("tempinbox_smtp_transactions_total", "Messages by result",
            {{"result", std::string(result)}, {"code_class", code_class}})
        .Increment();
}

prometheus::Counter& session_metrics::counter(std::string_view name, std::string_view help,
                                              const metrics::labels& with)
{
    std::string key(name);
    for (const auto& [label, value] : with)
        key.append(1, '\0').append(value);
    auto& cached = counters_[key];
    if (!cached)
        cached = &registry_.counter(std::string(name), std::string(help), with);
    return *cached;
}

} // namespace tempinbox::smtp
