#include "webhook-dispatcher/storage/storage.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr int schema_version = 6;

} // namespace

storage::storage(runtime::host& host, const postgres::settings& database)
    : db(host, database),
      endpoints(db),
      rules(db),
      feeds(db),
      queue(db),
      deliveries(db),
      manual_deliveries(db),
      replays(db),
      partitions(db)
{
    db.require_schema("webhooks", schema_version);
}

} // namespace tempinbox::webhooks
