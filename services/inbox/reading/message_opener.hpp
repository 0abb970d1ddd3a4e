#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/lru_cache.hpp"
#include "common/metrics/registry.hpp"
#include "inbox/reading/message_parser.hpp"
#include "mailbox/email_repository.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::inbox {

using shared_texts = std::shared_ptr<const mailbox::message_texts>;

// Reads what filters look at of messages, and caches it: a stored message never changes. The cache
// is apart from that of views, which one search would sweep. Used on the loop.
class message_opener
{
public:
    // `max_cache_bytes`: of texts and headers, in all; 0 caches none.
    message_opener(runtime::host& host, mailbox::email_repository& emails, message_parser& parser,
                   std::size_t max_cache_bytes);

private:
    friend class message_session;
    struct bytes_held
    {
        std::size_t operator()(body_id id, const shared_texts& texts) const;
    };

    shared_texts cached(body_id id);
    void cache(body_id id, shared_texts texts);

    mailbox::email_repository& emails_;
    message_parser& parser_;
    std::size_t max_cached_;
    lru_cache<body_id, shared_texts, bytes_held> texts_;
    prometheus::Counter& cached_messages_;
    prometheus::Counter& parsed_messages_;
    prometheus::Counter& unreadable_messages_;
    prometheus::Counter& parsed_bytes_;
    prometheus::Gauge& cache_bytes_;
};

// What one page of a list, or one poll of a wait, may open.
struct opening_bounds
{
    int messages = 0;
    std::size_t bytes = 0;             // of the messages
    std::chrono::milliseconds time{0}; // from the first one on
};

// A bound of opening_bounds.
enum class opening_bound { messages, bytes, time };

// The messages that one page or poll opens, in order. Reads ahead, so that a statement and a job on
// a thread serve several. The first message is always within the bounds.
class message_session
{
public:
    struct message
    {
        email_id email;
        mailbox::message_location location;
    };

    // Until `until` its caller waits.
    message_session(message_opener& opener, account_id account, const opening_bounds& bounds,
                    async::deadline until);

    // Those to open or skip next, in their order, in place of any that are left.
    void expect(std::vector<message> messages);
    void skip_next() { next_.pop_front(); }
    // The bound that the next one is beyond; nullopt: it may be opened.
    std::optional<opening_bound> bound_met() const;
    // Null if the message is gone; one that is damaged has no texts. Fails as message_parser::read.
    awaitable<result<shared_texts>> open_next();
    // The one that was opened last, read anew.
    awaitable<result<shared_texts>> open_last_again();

    int opened() const { return opened_; }

private:
    struct expected
    {
        message about;
        std::optional<std::string> raw;
        shared_texts texts;
        bool was_requested = false;
    };

    // A message that is read by itself.
    struct found_raw
    {
        std::optional<std::string> raw; // absent: it is gone, or
        bool is_damaged = false;
    };

    awaitable<void> read_ahead();
    awaitable<result<found_raw>> find_raw(email_id email);
    awaitable<result<void>> parse_ahead();
    shared_texts keep(const message& about, mailbox::message_texts parsed);

    message_opener& opener_;
    account_id account_;
    opening_bounds bounds_;
    async::deadline until_;
    async::deadline time_end_ = async::deadline::never(); // of the bounds
    std::deque<expected> next_;
    std::optional<message> last_;
    int opened_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace tempinbox::inbox
