#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/lru_cache.hpp"
#include "common/runtime/host.hpp"
#include "inbox/mail_reader.hpp"
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
    std::shared_ptr<const mime::view> view;
};

// Reads emails for the RPC handlers. What is asked for while a statement is under way goes in the
// next one, in which accounts take turns. Views of messages are cached: a stored message never
// changes, and whether its email is there is asked each time. Used on the loop.
class email_reader
{
public:
    // `max_cache_bytes`: of views, in all; 0 caches none.
    email_reader(runtime::host& host, mailbox::email_repository& emails, mail_reader& reader,
                 std::size_t max_cache_bytes);

    // Fails as email_repository::find and mail_reader::read; unavailable if PostgreSQL cannot be
    // reached.
    awaitable<result<read_email>> read(account_id account, email_id id);

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

    awaitable<result<shared_view>> find_view(account_id account,
                                             const mailbox::stored_email& email);
    awaitable<result<std::string>> find_message(account_id account,
                                                const mailbox::stored_email& email);
    void cache(body_id id, shared_view view);

    mailbox::email_repository& emails_;
    mail_reader& reader_;
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
