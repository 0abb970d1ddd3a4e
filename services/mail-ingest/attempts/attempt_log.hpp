#pragma once

#include "common/core/ids.hpp"
#include "mail-ingest/attempts/attempt_recorder.hpp"
#include "mail-ingest/attempts/message_scan.hpp"
#include "mail-ingest/envelope/envelope.hpp"
#include "mail-ingest/envelope/login.hpp"
#include "mail-ingest/faults/fault_player.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mail_ingest {

// How a message ended.
struct attempt_end
{
    faults::stage at = faults::stage::end;
    int code = 0; // 0: without a reply
    std::string_view reply;
    bool is_chunked = false;
    // One in each inbox that has it.
    std::vector<std::pair<inbox_id, email_id>> emails;
};

// What one session does with the inboxes that are watched, on its way to the recorder: gathers a
// transaction, and notes one attempt for each such inbox when it ends. A transaction that is given
// up after RCPT is one if a recipient was refused. Bounded; without clock, socket or SQL.
class attempt_log
{
public:
    static constexpr std::size_t max_recipients = 100; // of a transaction

    attempt_log(attempt_recorder& recorder, std::string remote_address)
        : recorder_(recorder),
          remote_address_(std::move(remote_address))
    {}

    // AUTH or MAIL was refused to a login; `sender` is what is known of the transaction.
    void note_refused_login(const smtp::login& who, faults::stage at, const smtp::envelope& sender,
                            std::string_view reply, const fault_memory& met);
    // A recipient in a watched inbox was accepted or refused; `number` is the transaction's.
    void note_recipient(int number, const smtp::envelope& transaction,
                        const smtp::recipient_result& result, const std::string& recipient,
                        std::string_view reply, const fault_memory& met);
    void begin_message() { scan_.emplace(); }
    void append(std::string_view bytes)
    {
        if (scan_)
            scan_->append(bytes);
    }
    // The message of this transaction ended.
    void end_message(const smtp::envelope& transaction, const attempt_end& ended,
                     const fault_memory& met);
    // No message of the transaction with this number will come.
    void end_transaction(const fault_memory& met);
    void end_session(mailbox::session_end how);

    // Of the transaction that something is gathered of; 0: of none.
    int number() const { return number_; }

private:
    struct settled_recipient
    {
        account_id account;
        inbox_id inbox;
        mailbox::v1::AttemptRecipient what;
    };
    struct draft
    {
        account_id account;
        mailbox::v1::Attempt what;
    };
    using drafts = std::map<inbox_id, draft>;

    mailbox::v1::Attempt begin_attempt(const smtp::envelope& transaction) const;
    void add_refused(drafts& attempts, const smtp::envelope& transaction) const;
    void note(drafts attempts, const fault_memory& met);
    void clear();

    attempt_recorder& recorder_;
    std::string remote_address_;
    int number_ = 0;
    smtp::envelope sender_;                     // without recipients
    std::vector<settled_recipient> recipients_; // at RCPT
    std::optional<message_scan> scan_;
    std::vector<mailbox::attempt_key> last_; // of the session, of one transaction
};

} // namespace tempinbox::mail_ingest
