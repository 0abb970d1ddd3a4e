#include "mail-ingest/ingest/reading.hpp"

#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "common/events/events.hpp"
#include "common/rpc/timestamp.hpp"
#include "extract/codes.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/compression.hpp"

namespace tempinbox::mail_ingest {
namespace {

// The part of overlong header fields that lists, events and rules see.
constexpr std::size_t max_subject_bytes = 16 * 1024;
constexpr std::size_t max_name_bytes = 1'024;

std::string cut(std::string text, std::size_t bytes)
{
    text.resize(take_bytes(text, bytes).size());
    return text;
}

// A Received field that we wrote, so the message was here before. `host` is our name or, for a
// message that was downloaded, the domain of its inbox.
bool is_own_trace(const std::string& field, const std::string& host)
{
    const auto by = field.find("by " + host + " ");
    const auto id = field.find(" id ", by == std::string::npos ? field.size() : by);
    return id != std::string::npos &&
           uuid::parse(std::string_view(field).substr(id + 4, 36)).has_value();
}

bool is_looping(const mime::view& view, const reading_facts& facts)
{
    if (facts.max_hops > 0 && view.summary.received_hops > facts.max_hops)
        return true;
    return std::any_of(view.headers.begin(), view.headers.end(), [&](const auto& field) {
        if (!equals_ignoring_ascii_case(field.first, "Received"))
            return false;
        const auto& recipients = facts.envelope.recipients;
        // Whoever logs in names recipients at will: their domains are not ours.
        if (facts.envelope.login)
            return is_own_trace(field.second, facts.hostname);
        return is_own_trace(field.second, facts.hostname) ||
               std::any_of(recipients.begin(), recipients.end(), [&](const auto& one) {
                   return !one.domain.empty() && is_own_trace(field.second, one.domain);
               });
    });
}

// One delivery for each inbox, with the address forms it was named by, each once.
std::vector<mailbox::new_delivery> deliveries_of(const smtp::envelope& envelope)
{
    std::vector<mailbox::new_delivery> deliveries;
    for (const auto& recipient : envelope.recipients) {
        auto delivery = std::find_if(deliveries.begin(), deliveries.end(),
                                     [&](const auto& one) { return one.inbox == recipient.inbox; });
        if (delivery == deliveries.end()) {
            delivery = deliveries.emplace(deliveries.end());
            delivery->account = recipient.account;
            delivery->inbox = recipient.inbox;
        }
        if (std::find(delivery->rcpt_to.begin(), delivery->rcpt_to.end(), recipient.as_given) ==
            delivery->rcpt_to.end())
            delivery->rcpt_to.push_back(recipient.as_given);
    }
    return deliveries;
}

outbox::row make_event(const mailbox::new_message& message, const mailbox::new_delivery& delivery,
                       bool has_code, const trace::context& cause)
{
    events::v1::EmailReceived event;
    event.set_email_id(delivery.id.text());
    event.set_inbox_id(delivery.inbox.text());
    event.set_account_id(delivery.account.text());
    event.set_from(message.from);
    event.set_subject(message.subject);
    for (const auto& recipient : delivery.rcpt_to)
        event.add_to(recipient);
    *event.mutable_received_at() = rpc::to_timestamp(message.received_at);
    event.set_size_bytes(message.size);
    event.set_attachment_count(message.attachment_count);
    event.set_has_code(has_code);
    return events::make_row(event, cause);
}

} // namespace

read_mail read(std::string_view raw, const reading_facts& facts)
{
    auto limits = facts.view;
    limits.with_page = true;
    auto view = mime::read_view(raw, limits);
    read_mail mail;
    mail.is_looping = is_looping(view, facts);
    if (mail.is_looping)
        return mail;

    const auto codes = extract::find_codes(view.summary.subject, view.text, view.page);
    const auto links = extract::find_links(view.text, view.page);
    auto message = std::make_shared<mailbox::new_message>();
    message->body = body_id(uuid::make_v7(facts.received_at));
    message->frame = mailbox::compress(raw);
    message->sha256 = crypto::sha256(raw);
    message->size = static_cast<std::int64_t>(raw.size());
    message->received_at = facts.received_at;
    message->from = cut(view.summary.from.empty() ? facts.envelope.mail_from : view.summary.from,
                        max_name_bytes);
    message->from_name = cut(std::move(view.summary.from_name), max_name_bytes);
    message->subject = cut(std::move(view.summary.subject), max_subject_bytes);
    message->preview = std::move(view.summary.preview);
    if (view.summary.message_id)
        message->message_id = cut(std::move(*view.summary.message_id), max_name_bytes);
    message->header_addresses = mailbox::to_json(mailbox::take_addresses(view));
    message->mail_from = facts.envelope.mail_from;
    message->remote_address = facts.remote_address;
    message->helo = facts.envelope.helo;
    message->tls = facts.envelope.tls;
    message->login = facts.envelope.login;
    message->attachment_count = view.summary.attachment_count;
    message->codes = mailbox::to_json(codes);
    message->links = mailbox::to_json(links);
    message->defects = std::move(view.defects);
    message->deliveries = deliveries_of(facts.envelope);

    const auto& traced = facts.envelope.trace;
    const auto cause = traced.is_valid() ? traced : trace::context(trace::traceparent::make());
    for (auto& delivery : message->deliveries) {
        delivery.id = email_id(uuid::make_v7(facts.received_at));
        delivery.event = make_event(*message, delivery, !codes.empty(), cause);
    }
    mail.message = std::move(message);
    return mail;
}

} // namespace tempinbox::mail_ingest
