#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/email_lists.hpp"
#include "mailbox/email_removal.hpp"
#include "mailbox/email_search.hpp"
#include "mailbox/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// An email to mark as read or unread.
struct email_mark
{
    account_id account;
    email_id email;
    bool is_read = false;
};

// Emails: listing, finding, searching, marking, counting and deleting them. Mail of an inbox that
// has ended, is another account's or does not exist is not_found. Throws if PostgreSQL cannot be
// reached.
class email_repository
{
public:
    static constexpr std::int64_t removal_batch_size = mailbox::removal_batch_size;

    explicit email_repository(postgres::pool& db);

    // With a filter, and over all inboxes, a page reads at most 2,000 rows, so it may be short
    // though there is a next one. A filter's conditions on messages are left to the caller: what
    // meets the others is listed, with its place in `candidates`.
    awaitable<result<email_page>> list(email_query query);
    // The same for lists that are asked for together, in the given order. What PostgreSQL refuses
    // of one list fails that one alone; a timeout fails all.
    awaitable<std::vector<result<email_page>>> list_all(std::vector<email_query> queries);
    // The emails of one inbox, unfiltered.
    awaitable<result<email_page>> list(account_id account, inbox_id inbox, int limit,
                                       std::string cursor, std::int64_t after);

    // The email with the message as received.
    awaitable<result<stored_email>> find(account_id account, email_id id);

    // Emails without their messages, in the given order.
    awaitable<std::vector<result<stored_email>>>
    find_all(std::vector<std::pair<account_id, email_id>> emails);

    // Messages as received, in the given order; absent for one that is being moved to another
    // partition: `find` waits for it.
    awaitable<std::vector<std::optional<std::string>>> read_bodies(std::vector<body_key> bodies);

    // The size of the message in bytes.
    awaitable<result<std::int64_t>> find_size(account_id account, email_id id);

    // What is stored of the way that the email came.
    awaitable<result<email_arrival>> find_arrival(account_id account, email_id id);

    awaitable<result<email_summary>> mark(account_id account, email_id id, bool is_read);
    // The same for marks that come together, as if one after the other; each fails alone.
    awaitable<std::vector<result<email_summary>>> mark_all(std::vector<email_mark> marks);

    // The versions of inboxes' lists, in the given order; empty for an inbox that has ended, is
    // another account's or does not exist. A version changes with every change of the inbox's
    // emails and never repeats: a list read after its version is current as long as the inbox still
    // has that version. Compare versions for equality only.
    awaitable<std::vector<std::string>>
    find_versions(std::vector<std::pair<account_id, inbox_id>> inboxes);

    // First-match searches of one inbox, for long polls. They share their queries, which read one
    // row if nothing is new and at most 2,000 emails.
    awaitable<result<search_results>> find_first(account_id account, inbox_id inbox,
                                                 std::vector<email_search> searches);

    // The inbox's emails above a sequence, at most `max_emails`, for searches that look at
    // messages.
    awaitable<result<examined_emails>> read_above(account_id account, inbox_id inbox,
                                                  std::int64_t above, int max_emails);

    // The last sequence of each inbox, in the given order; -1 where find_first would return
    // not_found.
    awaitable<std::vector<std::int64_t>>
    last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes);

    // How many emails the account got on each of the last `days`, today included, oldest first;
    // days without email are left out. Remaining emails are counted by the index, deleted ones were
    // counted when they were deleted.
    awaitable<std::vector<daily_count>> count_by_day(account_id account, int days);
    // The same for inboxes with a tag; deleted emails are counted for no tag.
    awaitable<std::vector<daily_count>> count_by_day(account_id account, std::string tag, int days);

    // Deletes up to removal_batch_size emails with sequence <= `up_to`; if absent, up to the
    // inbox's last one at the call. Bodies that no email needs any more go with them; the inbox's
    // counts go down, its sequence numbers continue.
    awaitable<result<removed_mail>> empty_inbox(account_id account, inbox_id inbox,
                                                std::optional<std::int64_t> up_to);

    // Deletes one email likewise.
    awaitable<result<void>> remove(account_id account, email_id email);
    // The same for emails that come together, as if one after the other; each fails alone.
    awaitable<std::vector<result<void>>>
    remove_all(std::vector<std::pair<account_id, email_id>> emails);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
