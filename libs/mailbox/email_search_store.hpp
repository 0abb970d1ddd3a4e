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

// The email with the lowest sequence above `after` that matches is wanted.
struct email_search
{
    std::int64_t after = 0;
    email_filter filter;
};

// An email that was looked at and does not match.
struct near_miss
{
    email_id email;
    std::int64_t sequence = 0;
    filter_field field = filter_field::from;
    std::string actual; // shortened
};

// What a search came to. Without an email and with `searched_to` below the inbox's last sequence it
// is to be gone on with.
struct search_result
{
    std::optional<email_id> email;
    std::int64_t searched_to = 0;
    std::vector<near_miss> near_misses; // the newest ten, in order
};

struct search_results
{
    std::int64_t last_sequence = 0;
    std::vector<search_result> results; // in the order of the searches
};

// Looking for emails that somebody waits for. Searches of one inbox share one look, which costs a
// single row where nothing is new and reads at most 2,000 emails. Throws when PostgreSQL cannot be
// reached.
class email_search_store
{
public:
    explicit email_search_store(postgres::pool& db);

    // An inbox that has ended, is another account's or does not exist: not_found.
    awaitable<result<search_results>> find_first(account_id account, inbox_id inbox,
                                                 std::vector<email_search> searches);

    // The last sequence of each live inbox in the order asked; -1 where find_first would answer
    // not_found.
    awaitable<std::vector<std::int64_t>>
    last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
