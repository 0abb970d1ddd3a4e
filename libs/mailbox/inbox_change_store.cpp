#include "mailbox/inbox_change_store.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/binary_array.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/inbox_row_store.hpp"
#include "mailbox/inbox_store.hpp"

namespace tempinbox::mailbox {
namespace {

const std::string lock_inbox_sql = "SELECT" + std::string(inbox_columns) + R"( FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now() FOR UPDATE)";
const postgres::statement lock_inbox{"mailbox_lock_inbox_to_change", lock_inbox_sql.c_str()};

// $6: seconds from now, or NULL.
const std::string change_inbox_sql = R"(
    UPDATE mailbox.inboxes SET name = $3, tags = $4::text[], metadata = $5::jsonb,
        expires_at = coalesce(date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $6::bigint), expires_at)
    WHERE account_id = $1 AND inbox_id = $2
    RETURNING )" + std::string(inbox_columns);
const postgres::statement change_inbox{"mailbox_change_inbox", change_inbox_sql.c_str()};

constexpr postgres::statement change_address_end{"mailbox_change_address_end", R"(
    UPDATE mailbox.addresses SET until = mailbox.from_micros($3) WHERE address = $1 AND inbox_id = $2 AND state = 'live')"};

std::optional<plans::account_state> newer_stored_state(pqxx::work& tx,
                                                       const plans::account_state& known)
{
    auto stored = plans::find(tx, schema, known.account);
    if (stored && stored->version > known.version)
        return stored;
    return std::nullopt;
}

result<void> apply(inbox& target, const inbox_change& requested)
{
    if (requested.name)
        target.name = requested.name->empty() ? std::nullopt : requested.name;
    if (requested.tags)
        target.tags = *requested.tags;
    if (requested.removes_all_metadata)
        target.metadata.clear();
    for (const auto& [key, value] : requested.metadata) {
        if (value)
            target.metadata[key] = *value;
        else
            target.metadata.erase(key);
    }
    if (target.metadata.size() > inbox_change_store::max_metadata)
        return failure{errc::invalid_argument,
                       "metadata must have at most 20 pairs, with this change it would have " +
                           std::to_string(target.metadata.size())};
    return {};
}

result<inbox> change_in(pqxx::work& tx, const inbox_change& requested, time_point now)
{
    const auto account = requested.account.account.text();
    const auto rows = tx.exec_prepared(lock_inbox.name, account, requested.id.text());
    if (rows.empty())
        return failure{errc::not_found, "Inbox " + requested.id.text() + " does not exist"};
    auto target = read_inbox(rows[0]);
    if (const auto fits = apply(target, requested); !fits)
        return fits.error();

    std::optional<std::string> seconds;
    if (requested.ttl) {
        const auto stored = newer_stored_state(tx, requested.account);
        const auto ttl =
            choose_ttl((stored ? *stored : requested.account).limits_at(now), requested.ttl);
        if (!ttl)
            return ttl.error();
        seconds = std::to_string(ttl->count());
    }
    const auto changed = tx.exec_prepared1(change_inbox.name, account, requested.id.text(),
                                           or_null(target.name), postgres::to_array(target.tags),
                                           to_json(target.metadata), or_null(seconds));
    auto after = read_inbox(changed);
    if (requested.ttl)
        tx.exec_prepared0(change_address_end.name, after.address, after.id.text(),
                          to_unix_micros(after.expires_at));
    return after;
}

} // namespace

inbox_change_store::inbox_change_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {lock_inbox, change_inbox, change_address_end})
        db_.prepare(statement);
}

awaitable<result<inbox>> inbox_change_store::change(inbox_change requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now](pqxx::work& tx) {
        return change_in(tx, requested, now);
    });
}

} // namespace tempinbox::mailbox
