#include "gateway/api.hpp"

#include "gateway/api/operations.hpp"

namespace tempinbox::gateway {
namespace {

// One connection, for reads that must not wait for others.
postgres::settings one_connection(postgres::settings chosen)
{
    chosen.name = "changes";
    chosen.connections = 1;
    return chosen;
}

pipeline_sources sources_of(key_cache& keys, key_uses& uses, quota_client& quota,
                            idempotent_calls& idempotency)
{
    pipeline_sources sources;
    sources.find_key = [&keys](std::string digest, lookups allowed) {
        return keys.find(std::move(digest), allowed);
    };
    sources.take_quota = [&quota](const plans::account_state& account) {
        return quota.take(account);
    };
    sources.last_known_quota = [&quota](const plans::account_state& account) {
        return quota.last_known(account);
    };
    sources.note_use = [&uses](const accounts::key_owner& owner, time_point now) {
        uses.note(owner, now);
    };
    sources.handle_idempotent = [&idempotency](http::request& received, caller& who,
                                               const route& operation) {
        return idempotency.handle(received, who, operation);
    };
    return sources;
}

} // namespace

api::api(runtime::host& host, const settings& chosen, core& shared)
    : changes_db_(host, one_connection(chosen.database)),
      keys_(shared.db),
      changes_(changes_db_),
      key_cache_(host, keys_, changes_, shared.strangers),
      key_uses_(host, keys_),
      pipeline_(host.clock(), operations_below("/v1", shared.services()),
                sources_of(key_cache_, key_uses_, shared.quota, shared.idempotency),
                chosen.trusted_proxies, shared.response_memory)
{}

void api::start()
{
    key_cache_.start();
    key_uses_.start();
}

awaitable<void> api::stop()
{
    co_await key_cache_.stop();
    co_await key_uses_.stop();
    changes_db_.stop();
}

} // namespace tempinbox::gateway
