#include "webhook-dispatcher/endpoints/notice_store.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement claim_notices{"notices_claim", R"(
WITH owed AS (
    SELECT account_id, webhook_id FROM webhooks.endpoints
    WHERE notice_at <= now() AND notice_at > now() - interval '1 day'
    ORDER BY notice_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE webhooks.endpoints e SET notice_at = now() + interval '5 minutes'
FROM owed WHERE e.account_id = owed.account_id AND e.webhook_id = owed.webhook_id
RETURNING e.notice_id, e.account_id, e.webhook_id, e.url, coalesce(e.disabled_reason, ''))"};

constexpr postgres::statement settle_notice{"notices_settle", R"(
UPDATE webhooks.endpoints SET notice_id = NULL, notice_at = NULL
WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND notice_id = $3::uuid)"};

} // namespace

notice_store::notice_store(postgres::pool& db) : db_(db)
{
    db_.prepare(claim_notices);
    db_.prepare(settle_notice);
}

awaitable<std::vector<disabled_notice>> notice_store::claim(int limit)
{
    return db_.transact([limit](pqxx::work& tx) {
        std::vector<disabled_notice> claimed;
        for (const auto& row : tx.exec_prepared(claim_notices.name, limit)) {
            disabled_notice notice;
            notice.id = uuid::parse(row[0].as<std::string>()).value();
            notice.account = account_id::parse(row[1].as<std::string>()).value();
            notice.webhook = webhook_id::parse(row[2].as<std::string>()).value();
            notice.url = row[3].as<std::string>();
            notice.reason = row[4].as<std::string>();
            claimed.push_back(std::move(notice));
        }
        return claimed;
    });
}

awaitable<void> notice_store::settle(account_id account, webhook_id webhook, uuid notice)
{
    return db_.transact([account, webhook, notice](pqxx::work& tx) {
        tx.exec_prepared0(settle_notice.name, account.text(), webhook.text(), notice.text());
    });
}

} // namespace tempinbox::webhooks
