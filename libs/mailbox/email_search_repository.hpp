#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/email_filter.hpp"
#include "mailbox/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// Asks for the email with the lowest sequence above `after` that matches.
struct email_search
{
    std::int64_t after = 0;
    email_filter filter;
};

// An email that was compared and does not match.
struct near_miss
{
    email_id email;
    std::int64_t sequence = 0;
    filter_field field = filter_field::from;
    std::string actual; // shortened
};

// If no email matched and searched_to < last_sequence, call again from searched_to.
struct search_result
{
    std::optional<email_id> email;
    std::int64_t searched_to = 0;
    std::vector<near_miss> near_misses; // the newest ten, in order of sequence
};

struct search_results
{
    std::int64_t last_sequence = 0;
    std::vector<search_result> results; // in the order of the searches
};

// First-match searches for long polls. Searches of one inbox share their queries, which read one
// row if nothing is new and at most 2,000 emails. Throws if PostgreSQL cannot be reached.
class email_search_repository
{
public:
    explicit email_search_repository(postgres::pool& db);

    // not_found if the inbox has ended, is another account's or does not exist.
    awaitable<result<search_results>> find_first(account_id account, inbox_id inbox,
                                                 std::vector<email_search> searches);

    // The last sequence of each inbox, in the given order; -1 where find_first would return
    // not_found.
    awaitable<std::vector<std::int64_t>>
    last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
