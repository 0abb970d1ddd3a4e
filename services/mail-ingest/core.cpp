#include "mail-ingest/core.hpp"

#include "mailbox/inbox_state_rows.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

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

void prefer_own_ciphers(boost::asio::ssl::context& context)
{
    SSL_CTX_set_options(context.native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
}

// Empty without files: STARTTLS is not offered then.
tls::watched_certificate starttls_certificate(runtime::host& host, const settings& chosen)
{
    if (chosen.tls_certificate_file.empty())
        return {};
    return tls::watch_certificate(host.files(), host.metrics(), chosen.tls_certificate_file,
                                  chosen.tls_key_file, prefer_own_ciphers);
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
      rejections(host, store),
      recipients(host, look_up_db, chosen.recipients),
      ingest(host, recipients, store, publisher, unacknowledged, chosen.ingest),
      clock_watch(host, db, clock),
      database_watch(host, {look_up_db, db}),
      client_limiter(chosen.client_limits),
      certificate(starttls_certificate(host, chosen)),
      session_metrics(host.metrics()),
      session_context{host,        chosen.session, recipients,          ingest,         rejections,
                      clock_watch, client_limiter, certificate.current, session_metrics},
      listener(session_context, chosen.smtp_listen, chosen.proxy, database_watch)
{
    db.require_schema(mailbox::schema, mailbox::schema_version);
}

void core::start()
{
    publisher.start();
    unacknowledged.start();
    rejections.start();
    clock_watch.start();
    database_watch.start();
    listener.start();
}

awaitable<void> core::stop(std::chrono::milliseconds timeout)
{
    co_await database_watch.stop();
    co_await clock_watch.stop();
    co_await unacknowledged.stop();
    co_await rejections.stop();
    co_await publisher.drain(timeout);
    co_await producer.flush(timeout);
    ingest.stop();
    look_up_db.stop();
    db.stop();
}

} // namespace tempinbox::mail_ingest
