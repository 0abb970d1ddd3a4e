#include "mail-ingest/core.hpp"

#include "mail-ingest/smtp/server_certificate.hpp"
#include "mailbox/inbox_state_rows.hpp"

#include <vector>

namespace tempinbox::mail_ingest {
namespace {

postgres::settings look_up_settings(const settings& chosen)
{
    auto look_ups = chosen.database;
    look_ups.name = "lookups";
    look_ups.connections = chosen.look_up_connections;
    look_ups.statement_timeout = chosen.recipients.timeout;
    return look_ups;
}

std::vector<smtp::listening_port> ports_of(const settings& chosen, smtp::session_context& mail,
                                           smtp::session_context& submission)
{
    using smtp::port_kind;
    return {
        {"smtp", port_kind::mail, &mail, chosen.smtp_listen, false, {}},
        {"smtp_proxy", port_kind::mail, &mail, chosen.proxy.listen, true, {}},
        {"submission", port_kind::submission, &submission, chosen.submission.listen, false, {}},
        {"submission_proxy",
         port_kind::submission,
         &submission,
         chosen.proxy.submission_listen,
         true,
         {}},
        {"submissions",
         port_kind::submissions,
         &submission,
         chosen.submission.tls_listen,
         false,
         {}},
        {"submissions_proxy",
         port_kind::submissions,
         &submission,
         chosen.proxy.submissions_listen,
         true,
         {}},
        {"submission_clear", port_kind::submission_clear, &submission,
         chosen.submission.clear_listen, false, chosen.submission.clear_networks},
    };
}

} // namespace

core::core(runtime::host& host, const settings& chosen, const clock_source& clock,
           std::string replica)
    : db(host, chosen.database),
      look_up_db(host, look_up_settings(chosen)),
      producer(host, chosen.kafka),
      publisher(host, db, producer, mailbox::schema,
                mailbox::remover_of_published(host.instance())),
      store(host, db, chosen.recipients.inbox_bounds),
      unacknowledged(host, store, std::move(replica)),
      recorders(host, db, store),
      recipients(host, look_up_db, chosen.recipients),
      ingest(host, recipients, store, publisher, unacknowledged, chosen.ingest),
      storage_watch(host, db, look_up_db, clock),
      faults(host, chosen.database),
      client_limiter(chosen.client_limits),
      certificate(smtp::watch_certificate(
          host, {"tls-certificate-file", chosen.tls_certificate_file, chosen.tls_key_file})),
      session_metrics(host.metrics()),
      session_context{host,
                      chosen.session,
                      recipients,
                      ingest,
                      recorders.rejections,
                      recorders.attempts,
                      faults,
                      storage_watch.clock,
                      client_limiter,
                      certificate.current,
                      session_metrics},
      submission(chosen, look_up_db, publisher, session_context),
      listener(host, session_metrics, ports_of(chosen, session_context, submission.context()),
               chosen.proxy, storage_watch.database)
{
    db.require_schema(mailbox::schema, mailbox::schema_version);
}

void core::start()
{
    publisher.start();
    unacknowledged.start();
    recorders.start();
    storage_watch.start();
    faults.start();
    submission.start();
    listener.start();
}

awaitable<void> core::stop(std::chrono::milliseconds timeout)
{
    co_await storage_watch.stop();
    co_await faults.stop();
    co_await unacknowledged.stop();
    co_await recorders.stop();
    co_await submission.stop();
    co_await publisher.drain(timeout);
    co_await producer.flush(timeout);
    ingest.stop();
    look_up_db.stop();
    db.stop();
}

} // namespace tempinbox::mail_ingest
