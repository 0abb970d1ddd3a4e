#include "common/rpc/timestamp.hpp"
#include "gateway/json/fields.hpp"
#include "gateway/json/resources.hpp"

#include "tempinbox/inbox/v1/sender_report.pb.h"

#include <chrono>

namespace tempinbox::gateway {
namespace {

template <class Message>
void put_step(json::writer& out, const Message& message)
{
    if (message.has_step())
        out.member("step", message.step());
    else
        out.null_member("step");
}

void put_refused(json::writer& out, const inbox::v1::RefusedRecipient& refused)
{
    out.begin_object();
    out.member("recipient", refused.recipient());
    put_text(out, "reply", !refused.reply().empty(), refused.reply());
    put_step(out, refused);
    out.end_object();
}

void put_attempt(json::writer& out, const inbox::v1::SentAttempt& attempt)
{
    out.begin_object();
    out.member("number", attempt.number());
    out.member("at", rpc::to_time(attempt.at()));
    out.member("stage", attempt.stage());
    put_text(out, "reply", !attempt.reply().empty(), attempt.reply());
    put_step(out, attempt);
    put_objects(out, "refused", attempt.refused(), put_refused);
    out.member("remoteAddress", attempt.remote_address());
    put_text(out, "tls", !attempt.tls().empty(), attempt.tls());
    out.member("pipelined", attempt.is_pipelined());
    out.member("chunked", attempt.is_chunked());
    out.end_object();
}

// Between attempts, to the millisecond.
void put_delays(json::writer& out, const inbox::v1::SentMessage& message)
{
    out.key("delaysSeconds").begin_array();
    for (int i = 1; i < message.attempts_size(); ++i) {
        const auto delay =
            rpc::to_time(message.attempts(i).at()) - rpc::to_time(message.attempts(i - 1).at());
        const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(delay).count();
        out.value(static_cast<double>(millis) / 1'000);
    }
    out.end_array();
}

void put_message(json::writer& out, const inbox::v1::SentMessage& message)
{
    out.begin_object();
    put_text(out, "messageId", !message.message_id().empty(), message.message_id());
    out.member("mailFrom", message.mail_from());
    put_texts(out, "recipients", message.recipients());
    out.member("recipientCount", message.recipient_count());
    put_objects(out, "attempts", message.attempts(), put_attempt);
    put_delays(out, message);
    out.member("state", message.state());
    put_texts(out, "emailIds", message.email_ids());
    out.member("ambiguous", message.is_ambiguous());
    out.end_object();
}

void put_marks(json::writer& out, const inbox::v1::SenderReport& report)
{
    out.key("marks").begin_object();
    for (const auto& mark : report.marks()) {
        out.key(mark.name()).begin_object();
        out.member("value", mark.value());
        if (mark.has_count())
            out.member("count", mark.count());
        out.key("attempts").begin_array();
        for (const auto number : mark.attempts())
            out.value(number);
        out.end_array();
        out.member("section", mark.section());
        put_text(out, "note", !mark.note().empty(), mark.note());
        out.end_object();
    }
    out.end_object();
}

void put_not_applied(json::writer& out, const inbox::v1::FaultNotApplied& fault)
{
    out.begin_object();
    out.member("at", rpc::to_time(fault.at()));
    out.member("attempt", fault.attempt());
    out.member("stage", fault.stage());
    out.member("reason", fault.reason());
    out.end_object();
}

} // namespace

std::string to_json(const inbox::v1::SenderReport& report)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "messages", report.messages(), put_message);
    put_marks(out, report);
    put_objects(out, "notApplied", report.not_applied(), put_not_applied);
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway
