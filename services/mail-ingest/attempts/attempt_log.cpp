#include "mail-ingest/attempts/attempt_log.hpp"

#include "common/core/text.hpp"
#include "mail-ingest/attempts/digest.hpp"

#include <set>

namespace tempinbox::mail_ingest {
namespace {

using faults::stage;
using mailbox::v1::Attempt;
using mailbox::v1::AttemptRecipient;

constexpr std::size_t max_reply_length = 300;
constexpr std::size_t max_sender_length = 256; // RFC 5321 4.5.3.1.3
constexpr std::size_t max_recipient_length = 320;
constexpr std::size_t max_message_id_length = 250;
// Recipients whose texts are kept; of the others there is a digest.
constexpr int max_shown_recipients = 10;

std::string shorten(std::string_view text, std::size_t max_length)
{
    return to_clean_utf8(text.substr(0, max_length));
}

// The code that a reply begins with; 0 without one.
int code_of(std::string_view reply)
{
    if (reply.size() < 3)
        return 0;
    return (reply[0] - '0') * 100 + (reply[1] - '0') * 10 + (reply[2] - '0');
}

// As the report names it.
std::string_view to_text(unplayed_reason reason)
{
    constexpr std::string_view names[] = {"sharedTransaction", "noAnswer", "tooManyDelays",
                                          "tooManyRecipients"};
    return names[static_cast<std::size_t>(reason)];
}

// The step that the inbox played at this stage.
std::optional<int> step_at(const fault_memory& met, inbox_id inbox, stage at)
{
    const auto found = met.played.find(inbox);
    if (found == met.played.end() || found->second.first != at)
        return std::nullopt;
    return static_cast<int>(found->second.second);
}

AttemptRecipient make_recipient(const std::string& as_given, int code)
{
    AttemptRecipient recipient;
    recipient.set_address(shorten(as_given, max_recipient_length));
    recipient.set_digest(add_to_digest(empty_digest, faults::fold_recipient(as_given)));
    recipient.set_code(code);
    return recipient;
}

void add_recipient(Attempt& attempt, AttemptRecipient recipient)
{
    if (attempt.recipients_size() >= max_shown_recipients) {
        recipient.clear_address();
        recipient.clear_reply();
    }
    *attempt.add_recipients() = std::move(recipient);
}

void end_at(Attempt& attempt, stage at, int code, std::string_view reply)
{
    attempt.set_stage(std::string(faults::to_text(at)));
    attempt.set_code(code);
    attempt.set_reply(shorten(reply, max_reply_length));
}

} // namespace

Attempt attempt_log::begin_attempt(const smtp::envelope& transaction) const
{
    Attempt attempt;
    attempt.set_mail_from(shorten(transaction.mail_from, max_sender_length));
    attempt.set_remote_address(remote_address_);
    attempt.set_login(transaction.login.value_or(""));
    attempt.set_tls(transaction.tls.value_or(""));
    attempt.set_is_pipelined(transaction.is_pipelined);
    attempt.set_has_size(transaction.declared_size.has_value());
    return attempt;
}

void attempt_log::note_refused_login(const smtp::login& who, stage at, const smtp::envelope& sender,
                                     std::string_view reply, const fault_memory& met)
{
    drafts attempts;
    auto& one = attempts[who.inbox];
    one.account = who.account;
    one.what = begin_attempt(sender);
    one.what.set_login(who.user);
    end_at(one.what, at, code_of(reply), reply);
    if (const auto step = step_at(met, who.inbox, at))
        one.what.set_step(*step);
    note(std::move(attempts), met);
}

void attempt_log::note_recipient(int number, const smtp::envelope& transaction,
                                 const smtp::recipient_result& result, const std::string& recipient,
                                 std::string_view reply, const fault_memory& met)
{
    if (number != number_)
        clear();
    number_ = number;
    sender_ = {};
    sender_.mail_from = transaction.mail_from;
    sender_.login = transaction.login;
    sender_.tls = transaction.tls;
    sender_.declared_size = transaction.declared_size;
    sender_.is_pipelined = transaction.is_pipelined;
    if (recipients_.size() >= max_recipients)
        return;
    const auto code = code_of(reply);
    settled_recipient one{result.account, result.inbox, make_recipient(recipient, code)};
    if (code / 100 != 2) {
        one.what.set_is_refused(true);
        one.what.set_reply(shorten(reply, max_reply_length));
        if (const auto step = step_at(met, result.inbox, stage::rcpt))
            one.what.set_step(*step);
    }
    recipients_.push_back(std::move(one));
}

// For each inbox the recipients that were refused at RCPT. If nothing of the transaction goes on
// for it, the attempt ends there, and has the accepted ones too.
void attempt_log::add_refused(drafts& attempts, const smtp::envelope& transaction) const
{
    std::set<inbox_id> ended;
    for (const auto& one : recipients_)
        if (one.what.is_refused() && !attempts.contains(one.inbox))
            ended.insert(one.inbox);
    for (const auto& [account, inbox, recipient] : recipients_) {
        const bool ends_here = ended.contains(inbox);
        if (!recipient.is_refused() && !ends_here)
            continue;
        auto& one = attempts[inbox];
        if (one.what.stage().empty()) {
            one.account = account;
            one.what = begin_attempt(transaction);
            end_at(one.what, stage::rcpt, 0, "");
        }
        if (ends_here && recipient.is_refused()) {
            end_at(one.what, stage::rcpt, recipient.code(), recipient.reply());
            if (recipient.has_step())
                one.what.set_step(recipient.step());
            else
                one.what.clear_step();
        }
        add_recipient(one.what, recipient);
    }
}

void attempt_log::end_message(const smtp::envelope& transaction, const attempt_end& ended,
                              const fault_memory& met)
{
    drafts attempts;
    for (const auto& recipient : transaction.recipients) {
        if (!recipient.is_watched && !transaction.login)
            continue;
        auto& one = attempts[recipient.inbox];
        if (one.what.stage().empty()) {
            one.account = recipient.account;
            one.what = begin_attempt(transaction);
            end_at(one.what, ended.at, ended.code, ended.reply);
            if (const auto step = step_at(met, recipient.inbox, ended.at))
                one.what.set_step(*step);
        }
        add_recipient(one.what, make_recipient(recipient.as_given, ended.code));
    }
    add_refused(attempts, transaction);
    for (const auto& [inbox, email] : ended.emails) {
        const auto found = attempts.find(inbox);
        if (found != attempts.end())
            found->second.what.set_email_id(email.text());
    }
    for (auto& [inbox, one] : attempts) {
        one.what.set_is_chunked(ended.is_chunked);
        if (!scan_ || ended.at != stage::end)
            continue;
        one.what.set_has_message(true);
        one.what.set_message_id(shorten(scan_->message_id(), max_message_id_length));
        one.what.set_is_relayed(scan_->is_relayed());
        one.what.set_content(scan_->content());
    }
    note(std::move(attempts), met);
    clear();
}

void attempt_log::end_transaction(const fault_memory& met)
{
    drafts attempts;
    add_refused(attempts, sender_);
    note(std::move(attempts), met);
    clear();
}

void attempt_log::note(drafts attempts, const fault_memory& met)
{
    if (attempts.empty())
        return;
    last_.clear();
    for (auto& [inbox, one] : attempts) {
        for (const auto& unplayed : met.unplayed) {
            if (unplayed.inbox != inbox)
                continue;
            auto& out = *one.what.add_unplayed();
            out.set_stage(std::string(faults::to_text(unplayed.at)));
            out.set_reason(std::string(to_text(unplayed.reason)));
        }
        if (const auto noted = recorder_.note(one.account, inbox, std::move(one.what)))
            last_.push_back(*noted);
    }
}

void attempt_log::end_session(mailbox::session_end how)
{
    for (const auto& key : last_)
        recorder_.note_end(key, how);
}

void attempt_log::clear()
{
    number_ = 0;
    sender_ = {};
    recipients_.clear();
    scan_.reset();
}

} // namespace tempinbox::mail_ingest
