#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/long_poll/poll_waiter.hpp"
#include "gateway/pipeline/response_budget.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tempinbox::gateway {

// An email as JSON, in memory once and counted, until its last holder releases it.
awaitable<result<std::shared_ptr<const std::string>>> read_whole(account_id account,
                                                                 std::string email_id,
                                                                 inbox_client& inboxes,
                                                                 response_budget& memory);

// The waiters on one inbox and their polls: at most one poll in flight for all of them, and one
// more to follow. Each waiter is covered by a poll that began after it was added. A failed poll
// ends only the waiters that were never polled for; the others wait for the next poll. A matched
// email is in memory once, counted, and only until all its waiters have their responses.
class inbox_poller : public std::enable_shared_from_this<inbox_poller>
{
public:
    using clock = std::chrono::steady_clock;

    inbox_poller(boost::asio::any_io_executor executor, inbox_client& inboxes,
                 response_budget& memory, account_id account, inbox_id inbox);
    inbox_poller(const inbox_poller&) = delete;

    account_id account() const { return account_; }
    inbox_id inbox() const { return inbox_; }

    void add(const std::shared_ptr<poll_waiter>& fresh);
    void remove(const std::shared_ptr<poll_waiter>& gone);
    bool is_empty() const { return waiters_.empty(); }

    // Makes sure that a poll begins after this call.
    void poll();
    // An email was stored; polls only if the sequence is new.
    void note_email(std::int64_t sequence);
    // The inbox's last sequence; -1: the inbox has ended.
    void note_position(std::int64_t last_sequence);
    // The inbox has ended.
    void end();
    // Ends every waiter at once; one that was not polled for yet ends after its first poll.
    void interrupt();
    // Ends one waiter whose last poll has not come in time.
    static void give_up(poll_waiter& one);

    // Whether the inbox's last sequence was last learned before `before` and no poll is in flight.
    bool is_due(clock::time_point before) const { return !is_polling_ && polled_at_ < before; }
    bool needs_poll() const { return has_failed_; }

private:
    struct group;
    using groups = std::vector<group>;
    using email_json = std::shared_ptr<const std::string>;

    static awaitable<void> run(std::shared_ptr<inbox_poller> self);
    awaitable<void> poll_once();
    static bool looks_at_messages(const group& one);
    awaitable<bool> search_part(groups& part);
    awaitable<void> deliver(std::string email_id,
                            std::vector<std::pair<group*, std::int64_t>> found);
    groups gather() const;
    void fail(const failure& reason);
    void apply_result(group& judged, const inbox::v1::EmailSearchResult& result,
                      std::int64_t last_sequence);
    void finish(poll_waiter& one, long_poll_outcome end, email_json email = nullptr);

    boost::asio::any_io_executor executor_;
    inbox_client& inboxes_;
    response_budget& memory_;
    account_id account_;
    inbox_id inbox_;
    std::unordered_set<std::shared_ptr<poll_waiter>> waiters_;
    std::int64_t last_sequence_ = 0;
    clock::time_point polled_at_ = clock::now();
    bool is_polling_ = false;
    bool is_poll_requested_ = false;
    bool has_failed_ = false;
};

} // namespace tempinbox::gateway
