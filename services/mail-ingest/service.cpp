#include "mail-ingest/service.hpp"

#include "common/events/events.hpp"

#include <boost/asio/ip/host_name.hpp>

namespace tempinbox::mail_ingest {
namespace {

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
      traces_(host),
      core_(host, settings_, host.clock(), replica_name(settings_)),
      account_states_(core_.db),
      // events_ counts the records that cannot be read.
      account_state_consumer_(host, account_states_,
                              {settings_.kafka, "tempinbox-mail-ingest", {}, {}}),
      events_(
          host, settings_.kafka,
          {events::topics::inbox_created, events::topics::inbox_expired,
           events::topics::account_state},
          [this](const std::vector<kafka::record>& batch) { core_.recipients.take_events(batch); })
{}

void service::start()
{
    admin_.start();
    traces_.start();
    account_state_consumer_.start();
    events_.start();
    core_.start();
}

awaitable<void> service::drain()
{
    // Sessions first, since they store mail; then the stored events are published; the broker last.
    const auto timeout = host_.settings().drain_timeout;
    co_await core_.drain(timeout * 3 / 4);
    events_.stop();
    co_await account_state_consumer_.stop();
    co_await core_.stop(timeout / 8);
    co_await traces_.drain(otlp::drain_timeout);
    admin_.stop();
}

} // namespace tempinbox::mail_ingest
