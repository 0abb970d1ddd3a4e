#include "mailbox/inbox_list_store.hpp"

#include "common/core/text.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/inbox_row_store.hpp"

#include <charconv>

namespace tempinbox::mailbox {
namespace {

constexpr int max_rows_read = 2'000;

// $1 account, $2 $3 the keyset position, $4 how many rows to read, $5 tag, $6 whether only ended
// ones, $7 how many to return. The last row returned marks the last row read.
std::string list_sql(const std::string& condition)
{
    return "WITH looked AS MATERIALIZED (SELECT" + std::string(inbox_columns) +
           R"(, created_at FROM mailbox.inboxes
        WHERE account_id = $1 AND (created_at, inbox_id) < (mailbox.from_micros($2), $3::uuid))" +
           condition + R"(
        ORDER BY created_at DESC, inbox_id DESC LIMIT $4::bigint),
    matched AS (
        SELECT * FROM looked WHERE ($5::text IS NULL OR $5 = ANY (tags)) AND NOT ($6 AND lives)
        ORDER BY created_at DESC, inbox_id DESC LIMIT $7::bigint)
    (SELECT false, (SELECT count(*) FROM looked), m.* FROM matched m ORDER BY created_at DESC, inbox_id DESC)
    UNION ALL
    (SELECT true, (SELECT count(*) FROM looked), l.* FROM looked l ORDER BY created_at, inbox_id LIMIT 1))";
}

const std::string list_any_sql = list_sql("");
const postgres::statement list_any{"mailbox_list_inboxes", list_any_sql.c_str()};

const std::string list_active_sql = list_sql(" AND is_live AND expires_at > now()");
const postgres::statement list_active{"mailbox_list_active_inboxes", list_active_sql.c_str()};

// An address belongs to the one inbox that had it last: it is not reused while that inbox can be
// read.
const std::string find_by_address_sql =
    "SELECT" + std::string(inbox_columns) + R"( FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = (SELECT inbox_id FROM mailbox.addresses WHERE address = $2 AND account_id = $1))";
const postgres::statement find_by_address{"mailbox_find_inbox_by_address",
                                          find_by_address_sql.c_str()};

std::string text_of(account_id account, const inbox_filter& filter)
{
    return "inboxes " + account.text() + " " + std::to_string(static_cast<int>(filter.status)) +
           (filter.tag ? " tag " + *filter.tag : "");
}

std::string position_of(const inbox& row)
{
    return std::to_string(to_unix_micros(row.created_at)) + " " + row.id.text();
}

// A row's key; initially above every row.
struct position
{
    std::int64_t created_at = to_unix_micros(endless);
    std::string id = "ffffffff-ffff-ffff-ffff-ffffffffffff";
};

result<position> read_position(const std::string& cursor, account_id account,
                               const inbox_filter& filter)
{
    if (cursor.empty())
        return position{};
    const auto text = read_cursor(cursor, text_of(account, filter));
    if (!text)
        return text.error();
    position from;
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), from.created_at);
    from.id = text->substr(
        std::min<std::size_t>(static_cast<std::size_t>(end - text->data()) + 1, text->size()));
    if (error != std::errc{} || !uuid::parse(from.id))
        return failure{errc::invalid_argument, "cursor is not one that this list gave out"};
    return from;
}

bool matches(const inbox& found, const inbox_filter& filter)
{
    return (filter.status != inbox_status::active || found.is_live) &&
           (filter.status != inbox_status::expired || !found.is_live) &&
           (!filter.tag ||
            std::find(found.tags.begin(), found.tags.end(), *filter.tag) != found.tags.end());
}

} // namespace

void prepare_inbox_lists(postgres::pool& db)
{
    for (const auto& statement : {list_any, list_active, find_by_address})
        db.prepare(statement);
}

result<page<inbox>> list_inboxes(pqxx::transaction_base& tx, account_id account,
                                 const inbox_filter& filter, int limit, const std::string& cursor)
{
    page<inbox> result_page;
    if (filter.address) {
        // At most one row, so this list never returned a cursor.
        if (!cursor.empty())
            return failure{errc::invalid_argument, "cursor is not one that this list gave out"};
        for (const auto& row : tx.exec_prepared(find_by_address.name, account.text(),
                                                to_lower_ascii(*filter.address)))
            if (auto found = read_inbox(row); matches(found, filter))
                result_page.items.push_back(std::move(found));
        return result_page;
    }

    const auto from = read_position(cursor, account, filter);
    if (!from)
        return from.error();
    const bool only_ended = filter.status == inbox_status::expired;
    const int row_limit = filter.tag || only_ended ? max_rows_read : limit + 1;
    const auto& statement = filter.status == inbox_status::active ? list_active : list_any;
    const auto rows = tx.exec_prepared(statement.name, account.text(), from->created_at, from->id,
                                       row_limit, or_null(filter.tag), only_ended, limit + 1);
    if (rows.empty())
        return result_page;

    const auto mark = rows.size() - 1;
    const bool has_more_matches = static_cast<int>(mark) > limit;
    for (pqxx::result::size_type i = 0; i < mark && static_cast<int>(i) < limit; ++i)
        result_page.items.push_back(read_inbox(rows[i], 2));
    if (has_more_matches)
        result_page.next_cursor =
            make_cursor(text_of(account, filter), position_of(result_page.items.back()));
    else if (rows[mark][1].as<int>() == row_limit)
        result_page.next_cursor =
            make_cursor(text_of(account, filter), position_of(read_inbox(rows[mark], 2)));
    return result_page;
}

} // namespace tempinbox::mailbox
