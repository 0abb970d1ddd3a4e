#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/token_bucket.hpp"
#include "common/kafka/message.hpp"
#include "mail-ingest/envelope/envelope.hpp"
#include "mail-ingest/envelope/path.hpp"
#include "mail-ingest/recipients/account_limits.hpp"
#include "mail-ingest/recipients/address_batcher.hpp"
#include "mail-ingest/recipients/domains.hpp"
#include "mail-ingest/recipients/live_addresses.hpp"
#include "mailbox/ingest_repository.hpp"

namespace tempinbox::events::v1 {
class InboxCreated;
}

namespace tempinbox::mail_ingest {

struct recipient_settings
{
    std::size_t cached_addresses = 1'000'000;
    std::size_t cached_accounts = 100'000;
    std::chrono::milliseconds timeout{2'000};
    int messages_per_minute = 120;
    int message_burst = 60;
    mailbox::inbox_bounds inbox_bounds;
};

// Resolves recipients: answers RCPT from caches where it can, else from PostgreSQL. In a subdomain
// a live named inbox comes before the live catch-all; there PostgreSQL is asked each time, since
// the mail for an inbox that ended a moment ago is the catch-all's. Never throws; without an answer
// in time the status is `unavailable`.
class recipients
{
public:
    recipients(runtime::host& host, postgres::pool& db, const recipient_settings& chosen);

    // From the caches alone; absent on a miss.
    std::optional<smtp::recipient_result> find_cached(const smtp::smtp_path& path);
    awaitable<smtp::recipient_result> find(smtp::smtp_path path);

    // Takes a message from the inbox's rate. Call this before a transaction gets a recipient in an
    // inbox it does not have yet.
    bool admits(inbox_id inbox) { return rates_.take(inbox, std::chrono::steady_clock::now()); }
    // The transaction did not deliver to the admitted inbox.
    void give_back(inbox_id inbox) { rates_.give_back(inbox); }
    // The account's limit as cached at present; `otherwise` on a miss.
    std::uint64_t max_message_bytes(account_id account, std::uint64_t otherwise);
    // The commit found the inbox ended or full.
    void evict(const std::string& recipient);

    // Handles inbox.created, inbox.expired and account.state.
    void take_events(const std::vector<kafka::record>& batch);

private:
    std::optional<address_keys> keys_of(const smtp::smtp_path& path) const;
    std::optional<smtp::recipient_result> find_cached_keys(const address_keys& keys);
    std::optional<smtp::recipient_result> find_live(const std::string& address);
    void take_creation(const events::v1::InboxCreated& event);
    std::optional<live_address> note_look_up(const std::string& address,
                                             const std::optional<mailbox::known_address>& found);
    smtp::recipient_result make_result(const address_keys& keys,
                                       const address_batcher::result& lookup);
    smtp::recipient_result make_live_result(const std::string& address, const live_address& live,
                                            const std::optional<mailbox::known_address>& found);

    runtime::host& host_;
    recipient_settings settings_;
    mailbox::domain_repository domain_repository_;
    mail_ingest::domains domains_;
    mail_ingest::address_batcher address_batcher_;
    live_addresses addresses_;
    account_limits accounts_;
    token_bucket<inbox_id> rates_; // of this replica alone
    prometheus::Gauge& cached_;
    prometheus::Counter& from_memory_;
    prometheus::Counter& from_database_;
    prometheus::Counter& unreadable_events_;
};

} // namespace tempinbox::mail_ingest
