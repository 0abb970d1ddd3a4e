#include "inbox/senders/sender_report.hpp"

#include "common/rpc/timestamp.hpp"
#include "inbox/senders/joining.hpp"
#include "inbox/senders/marks.hpp"

#include <algorithm>
#include <string>

namespace tempinbox::inbox {
namespace {

constexpr int max_shown_recipients = 10;

void put_attempt(v1::SentMessage& message, const stored_attempt& stored, std::size_t index)
{
    const auto& attempt = stored.what;
    auto& out = *message.add_attempts();
    out.set_number(static_cast<int>(index) + 1);
    *out.mutable_at() = rpc::to_timestamp(stored.at);
    out.set_stage(attempt.stage());
    out.set_reply(attempt.reply());
    if (attempt.has_step())
        out.set_step(attempt.step());
    for (const auto& recipient : attempt.recipients()) {
        if (!recipient.is_refused() || recipient.address().empty())
            continue;
        auto& refused = *out.add_refused();
        refused.set_recipient(recipient.address());
        refused.set_reply(recipient.reply());
        if (recipient.has_step())
            refused.set_step(recipient.step());
    }
    out.set_remote_address(attempt.remote_address());
    out.set_tls(attempt.tls());
    out.set_is_pipelined(attempt.is_pipelined());
    out.set_is_chunked(attempt.is_chunked());
}

// Whoever has it counts as accepted, also if the sender was not told so.
outcome outcome_for(const mailbox::v1::Attempt& attempt,
                    const mailbox::v1::AttemptRecipient& recipient)
{
    return !recipient.is_refused() && !attempt.email_id().empty() ? outcome::accepted
                                                                  : outcome_of(recipient.code());
}

std::string state_of(const settled_recipients& settled, outcome last)
{
    if (settled.is_any(outcome::deferred, last))
        return "open";
    return settled.is_any(outcome::accepted, last) ? "accepted" : "refused";
}

void put_message(v1::SenderReport& report, const std::vector<stored_attempt>& attempts,
                 const sent_message& sent)
{
    auto& message = *report.add_messages();
    settled_recipients settled;
    for (const auto index : sent.attempts) {
        const auto& attempt = attempts[index].what;
        if (!attempt.message_id().empty())
            message.set_message_id(attempt.message_id());
        if (!attempt.mail_from().empty())
            message.set_mail_from(attempt.mail_from());
        for (const auto& recipient : attempt.recipients()) {
            const bool is_new = settled.settle(recipient.digest(), outcome_for(attempt, recipient));
            if (is_new && !recipient.address().empty() &&
                message.recipients_size() < max_shown_recipients)
                message.add_recipients(recipient.address());
        }
        if (!attempt.email_id().empty() &&
            std::ranges::find(message.email_ids(), attempt.email_id()) == message.email_ids().end())
            message.add_email_ids(attempt.email_id());
        put_attempt(message, attempts[index], index);
    }
    message.set_recipient_count(static_cast<int>(settled.size()));
    message.set_state(state_of(settled, outcome_of(attempts[sent.attempts.back()].what.code())));
    message.set_is_ambiguous(sent.is_ambiguous);
}

} // namespace

v1::SenderReport make_sender_report(const std::vector<stored_attempt>& attempts, time_point now)
{
    const auto messages = join_attempts(attempts);
    v1::SenderReport report;
    for (const auto& message : messages)
        put_message(report, attempts, message);
    for (auto& mark : make_marks(attempts, messages, now))
        *report.add_marks() = std::move(mark);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        for (const auto& unplayed : attempts[i].what.unplayed()) {
            auto& out = *report.add_not_applied();
            *out.mutable_at() = rpc::to_timestamp(attempts[i].at);
            out.set_attempt(static_cast<int>(i) + 1);
            out.set_stage(unplayed.stage());
            out.set_reason(unplayed.reason());
        }
    }
    return report;
}

} // namespace tempinbox::inbox
