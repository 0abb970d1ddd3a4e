#include "webhook-dispatcher/delivery/retention_store.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement ensure_days{"retention_ensure_days", R"(
SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - $1::int, (now() AT TIME ZONE 'UTC')::date + $2::int))"};

constexpr postgres::statement drop_partition{"retention_drop_partition", R"(
SELECT webhooks.drop_partition_before((now() AT TIME ZONE 'UTC')::date - $1::int))"};

constexpr postgres::statement forget_secrets{"retention_forget_secrets", R"(
DELETE FROM webhooks.previous_secret WHERE valid_until <= now())"};

} // namespace

retention_store::retention_store(postgres::pool& db) : db_(db)
{
    db_.prepare(ensure_days);
    db_.prepare(drop_partition);
    db_.prepare(forget_secrets);
}

awaitable<void> retention_store::make_partitions(int back, int ahead)
{
    return db_.transact([back, ahead](pqxx::work& tx) { tx.exec_prepared(ensure_days.name, back, ahead); });
}

awaitable<bool> retention_store::drop_partition_older_than(int days)
{
    return db_.transact([days](pqxx::work& tx) { return tx.exec_prepared1(drop_partition.name, days)[0].as<bool>(); });
}

awaitable<void> retention_store::forget_ended_secrets()
{
    return db_.transact([](pqxx::work& tx) { tx.exec_prepared(forget_secrets.name); });
}

} // namespace tempinbox::webhooks
