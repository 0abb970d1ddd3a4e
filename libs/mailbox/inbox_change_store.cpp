#include "mailbox/inbox_change_store.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/parameters.hpp"
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

result<void> apply(inbox& target, const inbox_change& wanted)
{
    if (wanted.name)
        target.name = wanted.name->empty() ? std::nullopt : wanted.name;
    if (wanted.tags)
        target.tags = *wanted.tags;
    if (wanted.removes_all_metadata)
        target.metadata.clear();
    for (const auto& [key, value] : wanted.metadata) {
        if (value)
            target.metadata[key] = *value;
        else
            target.metadata.erase(key);
    }
    if (target.metadata.size() > inbox_change_store::most_metadata)
        return failure{errc::invalid_argument,
                       "metadata must have at most 20 pairs, with this change it would have " +
                           std::to_string(target.metadata.size())};
    return {};
}

result<inbox> change_in(pqxx::work& tx, const inbox_change& wanted, time_point now)
{
    const auto account = wanted.account.account.text();
    const auto rows = tx.exec_prepared(lock_inbox.name, account, wanted.id.text());
    if (rows.empty())
        return failure{errc::not_found, "Inbox " + wanted.id.text() + " does not exist"};
    auto target = read_inbox(rows[0]);
    if (const auto fits = apply(target, wanted); !fits)
        return fits.error();

    std::optional<std::string> seconds;
    if (wanted.ttl) {
        const auto stored = newer_stored_state(tx, wanted.account);
        const auto life =
            choose_life((stored ? *stored : wanted.account).limits_at(now), wanted.ttl);
        if (!life)
            return life.error();
        seconds = std::to_string(life->count());
    }
    const auto changed = tx.exec_prepared1(change_inbox.name, account, wanted.id.text(),
                                           or_null(target.name), postgres::text_array(target.tags),
                                           to_json(target.metadata), or_null(seconds));
    auto after = read_inbox(changed);
    if (wanted.ttl)
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

awaitable<result<inbox>> inbox_change_store::change(inbox_change wanted, time_point now)
{
    return db_.transact(
        [wanted = std::move(wanted), now](pqxx::work& tx) { return change_in(tx, wanted, now); });
}

} // namespace tempinbox::mailbox
