#include "inbox/api/messages.hpp"

#include "common/rpc/timestamp.hpp"

#include "tempinbox/inbox/v1/email_summary_fields.hpp"

#include <string>
#include <vector>

namespace tempinbox::inbox {
namespace {

template <class Repeated, class Texts>
void add_all(Repeated& target, const Texts& texts)
{
    for (const auto& text : texts)
        *target.Add() = text;
}

void add_addresses(google::protobuf::RepeatedPtrField<v1::EmailAddress>& target,
                   const std::vector<mime::email_address>& addresses)
{
    for (const auto& each : addresses) {
        auto& added = *target.Add();
        added.set_address(each.address);
        added.set_name(each.name);
    }
}

template <class Email>
v1::Envelope envelope_of(const Email& email)
{
    v1::Envelope envelope;
    envelope.set_mail_from(email.mail_from);
    envelope.set_remote_address(email.remote_address);
    envelope.set_helo(email.helo);
    if (email.tls)
        envelope.set_tls(*email.tls);
    if (email.login)
        envelope.set_login(*email.login);
    return envelope;
}

// What the fields of a summary's message are set to.
class summary_source
{
public:
    explicit summary_source(const mailbox::email_summary& email) : email_(email) {}

    // An id as text, anything else as it is.
    template <literal Name>
    decltype(auto) value() const
    {
        const auto& found = mailbox::summary_value<Name>(email_);
        if constexpr (requires { found.text(); })
            return found.text();
        else
            return (found);
    }

    template <literal Name>
    void fill(auto& target) const
    {
        put(target, mailbox::summary_value<Name>(email_));
    }

private:
    static void put(google::protobuf::RepeatedPtrField<std::string>& target,
                    const std::vector<std::string>& texts)
    {
        add_all(target, texts);
    }

    static void put(google::protobuf::RepeatedPtrField<v1::EmailAddress>& target,
                    const std::vector<mime::email_address>& addresses)
    {
        add_addresses(target, addresses);
    }

    static void put(google::protobuf::Timestamp& target, time_point time)
    {
        target = rpc::to_timestamp(time);
    }

    static void put(google::protobuf::RepeatedPtrField<v1::Code>& target,
                    const std::vector<extract::code>& codes)
    {
        for (const auto& code : codes) {
            auto& added = *target.Add();
            added.set_value(code.value);
            added.set_score(code.score);
            added.set_part(code.part);
            added.set_offset(code.offset);
        }
    }

    const mailbox::email_summary& email_;
};

} // namespace

v1::Inbox to_message(const mailbox::inbox& inbox, const mailbox::inbox_bounds& bounds)
{
    v1::Inbox message;
    message.set_inbox_id(inbox.id.text());
    message.set_email_address(inbox.address);
    if (inbox.name)
        message.set_name(*inbox.name);
    add_all(*message.mutable_tags(), inbox.tags);
    message.mutable_metadata()->insert(inbox.metadata.begin(), inbox.metadata.end());
    message.set_status(inbox.is_live ? v1::INBOX_STATUS_ACTIVE : v1::INBOX_STATUS_EXPIRED);
    message.set_email_count(inbox.email_count);
    message.set_last_sequence(inbox.last_sequence);
    if (inbox.last_email_at)
        *message.mutable_last_email_at() = rpc::to_timestamp(*inbox.last_email_at);
    *message.mutable_created_at() = rpc::to_timestamp(inbox.created_at);
    *message.mutable_expires_at() = rpc::to_timestamp(inbox.expires_at);
    if (inbox.expired_at)
        *message.mutable_expired_at() = rpc::to_timestamp(*inbox.expired_at);
    message.set_renew_on_use(inbox.renews_on_use);
    auto& retention = *message.mutable_retention();
    if (inbox.retention.max_age)
        retention.set_max_age_seconds(inbox.retention.max_age->count());
    retention.set_when_full(inbox.retention.drops_oldest ? v1::WHEN_FULL_DROP_OLDEST
                                                         : v1::WHEN_FULL_REFUSE);
    message.set_is_full(inbox.is_live && bounds.are_reached(inbox.email_count, inbox.email_bytes));
    if (inbox.login)
        *message.mutable_login() = to_message(*inbox.login);
    return message;
}

v1::Login to_message(const mailbox::capture_login& login)
{
    v1::Login message;
    message.set_user(login.user);
    *message.mutable_created_at() = rpc::to_timestamp(login.created_at);
    if (login.last_used_at)
        *message.mutable_last_used_at() = rpc::to_timestamp(*login.last_used_at);
    if (login.previous_until)
        *message.mutable_previous_valid_until() = rpc::to_timestamp(*login.previous_until);
    return message;
}

v1::Rejection to_message(const mailbox::rejection& rejection)
{
    v1::Rejection message;
    message.set_reason(rejection.reason);
    message.set_mail_from(rejection.mail_from);
    message.set_reply(rejection.reply);
    message.set_attempts(rejection.attempts);
    *message.mutable_first_at() = rpc::to_timestamp(rejection.first_at);
    *message.mutable_last_at() = rpc::to_timestamp(rejection.last_at);
    return message;
}

v1::EmailSummary to_message(const mailbox::email_summary& email)
{
    v1::EmailSummary message;
    v1::set_fields(message, summary_source{email});
    return message;
}

v1::Links to_message(const std::vector<extract::link>& links)
{
    v1::Links message;
    for (const auto& link : links) {
        auto& added = *message.add_links();
        added.set_url(link.url);
        added.set_text(link.text);
        added.set_kind(link.kind);
    }
    return message;
}

v1::Attachment to_message(const mime::attachment& part)
{
    v1::Attachment message;
    message.set_attachment_id(part.id);
    message.set_filename(part.filename);
    message.set_content_type(part.content_type);
    message.set_size_bytes(part.size);
    if (part.content_id)
        message.set_content_id(*part.content_id);
    message.set_inline_(part.is_inline);
    if (part.sha256)
        message.set_sha256(*part.sha256);
    return message;
}

v1::Email to_message(const mailbox::stored_email& email, const mime::view& view,
                     bool with_text_and_html)
{
    v1::Email message;
    auto& summary = *message.mutable_summary();
    summary = to_message(email.summary);
    const auto addresses = email.addresses ? *email.addresses : mailbox::take_addresses(view);
    if (!email.addresses) { // the row has no names
        summary.clear_to();
        add_addresses(*summary.mutable_to(), addresses.to);
    }
    add_addresses(*message.mutable_cc(), addresses.cc);
    add_addresses(*message.mutable_bcc(), mailbox::hidden_recipients(view, email.summary.rcpt_to));
    add_addresses(*message.mutable_reply_to(), addresses.reply_to);
    if (email.message_id)
        message.set_message_id(*email.message_id);
    if (view.date)
        *message.mutable_date() = rpc::to_timestamp(*view.date);
    for (const auto& [name, value] : view.headers) {
        auto& added = *message.add_headers();
        added.set_name(name);
        added.set_value(value);
    }
    if (view.text && with_text_and_html)
        message.set_text(*view.text);
    if (view.html && with_text_and_html)
        message.set_html(*view.html);
    for (const auto& part : view.attachments)
        *message.add_attachments() = to_message(part);
    *message.mutable_links() = std::move(*to_message(email.links).mutable_links());
    *message.mutable_envelope() = envelope_of(email);
    add_all(*message.mutable_defects(), email.defects);
    return message;
}

v1::GetEmailArrivalResponse to_message(const mailbox::email_arrival& arrival)
{
    v1::GetEmailArrivalResponse message;
    message.set_inbox_id(arrival.inbox.text());
    *message.mutable_received_at() = rpc::to_timestamp(arrival.received_at);
    message.set_size_bytes(arrival.size);
    *message.mutable_envelope() = envelope_of(arrival);
    add_all(*message.mutable_recipients(), arrival.rcpt_to);
    if (arrival.unpublished_since)
        *message.mutable_unpublished_since() = rpc::to_timestamp(*arrival.unpublished_since);
    return message;
}

v1::Domain to_message(const mailbox::domain& domain)
{
    v1::Domain message;
    message.set_domain(domain.name);
    message.set_is_default(domain.is_default);
    message.set_takes_subdomains(domain.takes_subdomains);
    return message;
}

} // namespace tempinbox::inbox
