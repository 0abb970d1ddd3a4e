#pragma once

#include "common/async/fair_semaphore.hpp"
#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "common/runtime/host.hpp"
#include "inbox/reading/message_opener.hpp"
#include "mailbox/email_repository.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

namespace tempinbox::inbox {

// How a page or poll that looks at messages ended.
enum class search_end {
    whole, // full, or everything was looked at
    rows,
    messages,
    bytes,
    time,
    unread, // before a message that could not be read, or not to its end
    busy,
    failed
};

// A page of a list, and how many messages were opened for it.
struct searched_page
{
    mailbox::email_page page;
    int opened = 0;
};

struct search_limits
{
    std::size_t cache_bytes = 0;             // of texts and headers, in all; 0 caches none
    std::size_t max_bytes = 0;               // of the messages that a page or poll opens
    std::chrono::milliseconds max_time{400}; // of a page or poll, from its first message on
};

// Lists and searches whose filters look at messages. A page or poll is bounded in rows, messages,
// their bytes and time, and ends where a bound is met; a message that was not read to its end ends
// it, too, unless it is the first, which is read once more. An account has one page under way, and
// accounts take turns. Used on the loop.
class message_search
{
public:
    message_search(runtime::host& host, mailbox::email_repository& emails, message_parser& parser,
                   const search_limits& limits);

    // As email_repository::list; unavailable if the account's turn did not come in time, or if a
    // message cannot be read now.
    awaitable<result<searched_page>> list(mailbox::email_query query);

    // As email_repository::find_first, for filters of any kind.
    awaitable<result<mailbox::search_results>>
    find_first(account_id account, inbox_id inbox, std::vector<mailbox::email_search> searches);

private:
    using semaphore = async::fair_semaphore<account_id>;
    using counters = std::array<prometheus::Counter*, 8>; // by search_end

    static counters make_counters(runtime::host& host, const char* kind);

    awaitable<result<searched_page>> search_page(mailbox::email_query query, search_end& end);
    awaitable<result<mailbox::search_results>>
    open_for(account_id account, inbox_id inbox, std::vector<mailbox::email_search> searches);
    awaitable<result<mailbox::search_results>>
    search_above(account_id account, inbox_id inbox, std::vector<mailbox::email_search> searches,
                 search_end& end);

    mailbox::email_repository& emails_;
    message_opener opener_;
    opening_bounds page_bounds_;
    opening_bounds poll_bounds_;
    semaphore pages_;
    semaphore polls_; // those that open messages
    counters page_ends_;
    counters poll_ends_;
};

} // namespace tempinbox::inbox
