#include "inbox/maintenance.hpp"

namespace tempinbox::inbox {

maintenance::maintenance(runtime::host& host, postgres::pool& db, outbox::publisher& publisher,
                         const settings& chosen)
    : expiry_repository(db, host.instance(), chosen.quarantine),
      partition_repository(db),
      purge_repository(db, host.instance()),
      retention_repository(db),
      renewal_repository(db, host.instance()),
      partitions(host, partition_repository),
      expiry(host, expiry_repository, publisher),
      purge(host, purge_repository, publisher, chosen.purge_interval, chosen.quarantine),
      retention(host, retention_repository, chosen.inbox_bounds, chosen.purge_interval),
      renewal(host, renewal_repository, publisher, partitions)
{}

void maintenance::start()
{
    partitions.start();
    expiry.start();
    purge.start();
    retention.start();
    renewal.start();
}

awaitable<void> maintenance::stop()
{
    co_await expiry.stop();
    co_await purge.stop();
    co_await retention.stop();
    co_await renewal.stop();
    co_await partitions.stop();
}

} // namespace tempinbox::inbox
