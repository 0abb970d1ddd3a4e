#include "feeds/restore.hpp"

#include "common/postgres/column.hpp"

#include <algorithm>

namespace tempinbox::feeds {
namespace {

using postgres::column;

constexpr const char* schema = "webhooks";
constexpr const char* find_table = "SELECT to_regclass('webhooks.feeds') IS NOT NULL AS is_here";
constexpr const char* count_feeds = "SELECT count(*) AS count FROM webhooks.feeds";

// No server has this name, so the next recording begins an epoch (webhooks.record_events).
constexpr const char* rename_batch = R"(
WITH batch AS (
    SELECT account_id FROM webhooks.feeds WHERE account_id > $1::uuid
    ORDER BY account_id LIMIT $2 FOR UPDATE)
UPDATE webhooks.feeds AS f SET server = 'restored' FROM batch
WHERE f.account_id = batch.account_id RETURNING f.account_id::text)";

constexpr const char* first_id = "00000000-0000-0000-0000-000000000000";

} // namespace

awaitable<std::optional<std::int64_t>> count_restored_feeds(postgres::pool& db)
{
    return db.transact([](pqxx::work& tx) -> std::optional<std::int64_t> {
        if (!column<bool>(tx.exec1(find_table), "is_here"))
            return std::nullopt;
        return column<std::int64_t>(tx.exec1(count_feeds), "count");
    });
}

awaitable<postgres::step_progress> begin_epochs(postgres::pool& db, std::string restore_id)
{
    return db.transact([id = std::move(restore_id)](pqxx::work& tx) {
        auto progress = postgres::lock_step(tx, schema, id, "feeds");
        if (progress.is_finished)
            return progress;
        if (progress.position.empty())
            progress.position = first_id;
        const auto renamed = tx.exec_params(rename_batch, progress.position, restore_batch_size);
        for (const auto& row : renamed)
            progress.position = std::max(progress.position, column<std::string>(row, "account_id"));
        progress.rows += static_cast<std::int64_t>(renamed.size());
        progress.is_finished = postgres::row_count(renamed) < restore_batch_size;
        postgres::save_step(tx, schema, id, "feeds", progress);
        return progress;
    });
}

} // namespace tempinbox::feeds
