#include "mail-ingest/service.hpp"

#include "common/events/events.hpp"

#include <boost/asio/ip/host_name.hpp>

namespace tempinbox::mail_ingest {
namespace {

postgres::settings look_up_settings(const settings& chosen)
{
    auto look_ups = chosen.database;
    look_ups.connections = chosen.look_up_connections;
    look_ups.statement_timeout = chosen.recipients.timeout;
    return look_ups;
}

// A name that stays the same when the process restarts: its host and listening address.
std::string replica_name(const settings& chosen)
{
    std::string name = boost::asio::ip::host_name();
    for (const auto& address : chosen.smtp_listen)
        name += " " + address.text();
    return name;
}

} // namespace

service::service(runtime::host& host, const settings& chosen)
    : host_(host),
      settings_(chosen),
      admin_(host),
      db_(host, settings_.database),
      look_up_db_(host, look_up_settings(settings_)),
      producer_(host, settings_.kafka),
      publisher_(host, db_, producer_, mailbox::schema),
      ingest_repository_(host, db_, settings_.recipients.inbox_bounds),
      unacknowledged_(host, ingest_repository_, replica_name(settings_)),
      recipients_(host, look_up_db_, settings_.recipients),
      ingest_(host, recipients_, ingest_repository_, publisher_, unacknowledged_, settings_.ingest),
      account_states_(db_),
      // events_ counts the records that cannot be read.
      account_state_consumer_(host, account_states_,
                              {settings_.kafka, "tempinbox-mail-ingest", {}, {}}),
      events_(host, settings_.kafka,
              {events::topics::inbox_created, events::topics::inbox_expired,
               events::topics::account_state},
              [this](const std::vector<kafka::record>& batch) { recipients_.take_events(batch); }),
      database_watch_(host, {look_up_db_, db_}),
      clock_watch_(host, db_, host.clock()),
      client_limiter_(settings_.client_limits),
      tls_(settings_.tls_certificate_file, settings_.tls_key_file),
      session_metrics_(host.metrics()),
      session_context_{host,         settings_.session, recipients_, ingest_,
                       clock_watch_, client_limiter_,   tls_,        session_metrics_},
      listener_(session_context_, settings_.smtp_listen,
                [this] { return database_watch_.is_away(); })
{
    db_.require_schema(mailbox::schema, mailbox::schema_version);
}

void service::start()
{
    admin_.start();
    publisher_.start();
    unacknowledged_.start();
    account_state_consumer_.start();
    events_.start();
    database_watch_.start();
    clock_watch_.start();
    listener_.start();
}

awaitable<void> service::drain()
{
    // Sessions first, since they store mail; then the stored events are published; the broker last.
    const auto timeout = host_.settings().drain_timeout;
    co_await listener_.drain(timeout * 3 / 4);
    events_.stop();
    co_await account_state_consumer_.stop();
    co_await database_watch_.stop();
    co_await clock_watch_.stop();
    co_await unacknowledged_.stop();
    co_await publisher_.drain(timeout / 8);
    co_await producer_.flush(timeout / 8);
    ingest_.stop();
    look_up_db_.stop();
    db_.stop();
    admin_.stop();
}

} // namespace tempinbox::mail_ingest
