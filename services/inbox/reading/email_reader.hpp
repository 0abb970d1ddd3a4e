#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/lru_cache.hpp"
#include "common/runtime/host.hpp"
#include "inbox/reading/message_parser.hpp"
#include "mailbox/email_repository.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::inbox {

// An email and what its message says.
struct read_email
{
    mailbox::stored_email email; // without the message
    // Null if the message was not read, as said at email_reader::read.
    std::shared_ptr<const mime::view> view;
};

// An attachment with its decoded bytes, if it is not larger than the caller's limit.
struct read_attachment
{
    mime::attachment about;
    std::optional<std::string> content;
};

// Reads emails for the RPC handlers. What is asked for while a statement is under way goes in the
// next one, in which accounts take turns. Views of messages are cached: a stored message never
// changes, and whether its email is there is asked each time. Used on the loop.
class email_reader
{
public:
    // `max_cache_bytes`: of views, in all; 0 caches none.
    email_reader(runtime::host& host, mailbox::email_repository& emails, message_parser& reader,
                 std::size_t max_cache_bytes);

    // With `max_bytes` for its texts, 0: any, a message that is likely to have larger ones is not
    // read unless its view is cached: the caller would drop it, and ask for it again. Fails as
    // email_repository::find and message_parser::read; unavailable if PostgreSQL cannot be reached,
    // or if the caller has given up by now.
    awaitable<result<read_email>> read(account_id account, email_id id, std::size_t max_bytes = 0);
    // For several emails of one call, which share its deadline.
    awaitable<result<read_email>> read(account_id account, email_id id, std::size_t max_bytes,
                                       async::deadline until);
    // When the caller of now has given up.
    static async::deadline read_deadline();

    // Absent if the message has no such part. `max_bytes`: of the content, 0: any. Fails as `read`.
    awaitable<result<std::optional<read_attachment>>> read_attachment(account_id account,
                                                                      email_id id,
                                                                      std::string attachment_id,
                                                                      std::size_t max_bytes);

    // About how large the text and html of an email are whose message was not read.
    std::size_t estimate_texts(const mailbox::email_summary& email) const;

private:
    using email_name = std::pair<account_id, email_id>;
    using shared_view = std::shared_ptr<const mime::view>;
    struct body_request
    {
        account_id account;
        mailbox::body_key body;
        std::size_t size = 0;
    };
    struct account_of
    {
        account_id operator()(const email_name& name) const { return name.first; }
        account_id operator()(const body_request& request) const { return request.account; }
    };
    struct size_of
    {
        std::size_t operator()(const body_request& request) const { return request.size; }
    };
    struct bytes_held
    {
        std::size_t operator()(body_id id, const shared_view& view) const;
    };

    awaitable<result<shared_view>> find_view(account_id account, const mailbox::stored_email& email,
                                             async::deadline until);
    awaitable<result<std::string>>
    find_message(account_id account, const mailbox::stored_email& email, async::deadline until);
    bool is_too_large(const mailbox::stored_email& email, std::size_t max_bytes);
    void cache(body_id id, shared_view view);

    mailbox::email_repository& emails_;
    message_parser& reader_;
    std::size_t max_cached_view_;
    lru_cache<body_id, shared_view, bytes_held> views_;
    prometheus::Counter& cached_views_;
    prometheus::Counter& parsed_views_;
    prometheus::Gauge& cache_bytes_;
    async::batcher<email_name, result<mailbox::stored_email>, async::unit_item_weight, account_of>
        rows_;
    async::batcher<body_request, std::optional<std::string>, size_of, account_of> bodies_;
};

} // namespace tempinbox::inbox
