#include "gateway/api/json.hpp"

#include "gateway/api/json_fields.hpp"

namespace tempinbox::gateway {
namespace {

// Without codes and text, which a list adds on request and a whole email has elsewhere. By name,
// since lists are read often: a loop over the fields cost 1 µs an email (decision 0016).
void put_summary_members(json::writer& out, const inbox::v1::EmailSummary& email)
{
    out.member("emailId", email.email_id());
    out.member("inboxId", email.inbox_id());
    out.member("sequence", email.sequence());
    out.member("from", email.from());
    out.member("fromName", email.from_name());
    put_texts(out, "to", email.to());
    out.member("subject", email.subject());
    out.member("preview", email.preview());
    put_time(out, "receivedAt", email.has_received_at(), email.received_at());
    out.member("sizeBytes", email.size_bytes());
    out.member("attachmentCount", email.attachment_count());
    out.member("isRead", email.is_read());
}

void put_header(json::writer& out, const inbox::v1::Header& header)
{
    out.begin_object().member("name", header.name()).member("value", header.value()).end_object();
}

void put_attachment(json::writer& out, const inbox::v1::Attachment& attachment)
{
    out.begin_object();
    out.member("attachmentId", attachment.attachment_id());
    out.member("filename", attachment.filename());
    out.member("contentType", attachment.content_type());
    out.member("sizeBytes", attachment.size_bytes());
    put_text(out, "contentId", attachment.has_content_id(), attachment.content_id());
    out.member("inline", attachment.inline_());
    out.end_object();
}

void put_code(json::writer& out, const inbox::v1::Code& code)
{
    out.begin_object();
    out.member("value", code.value());
    out.member("score", code.score());
    out.member("part", code.part());
    out.member("offset", code.offset());
    out.end_object();
}

void put_summary(json::writer& out, const inbox::v1::EmailSummary& email,
                 const email_extras& extras)
{
    out.begin_object();
    put_summary_members(out, email);
    if (extras.text)
        put_text(out, "text", email.has_text(), email.text());
    if (extras.codes)
        put_objects(out, "codes", email.codes(), put_code);
    out.end_object();
}

void put_link(json::writer& out, const inbox::v1::Link& link)
{
    out.begin_object()
        .member("url", link.url())
        .member("text", link.text())
        .member("kind", link.kind())
        .end_object();
}

void put_envelope(json::writer& out, const inbox::v1::Envelope& envelope)
{
    out.key("envelope").begin_object();
    out.member("mailFrom", envelope.mail_from());
    put_texts(out, "rcptTo", envelope.rcpt_to());
    out.member("remoteAddress", envelope.remote_address());
    out.member("helo", envelope.helo());
    put_text(out, "tls", envelope.has_tls(), envelope.tls());
    out.end_object();
}

void put_rule(json::writer& out, const webhooks::v1::RuleOutcome& rule)
{
    out.begin_object()
        .member("ruleId", rule.rule_id())
        .member("matched", rule.matched())
        .end_object();
}

} // namespace

std::string to_json(const inbox::v1::Email& email, const webhooks::v1::GetRoutingResponse& routing)
{
    json::writer out;
    out.begin_object();
    put_summary_members(out, email.summary());
    put_texts(out, "toHeader", email.to_header());
    put_texts(out, "cc", email.cc());
    put_texts(out, "replyTo", email.reply_to());
    put_text(out, "messageId", email.has_message_id(), email.message_id());
    put_time(out, "date", email.has_date(), email.date());
    put_objects(out, "headers", email.headers(), put_header);
    put_text(out, "text", email.has_text(), email.text());
    put_text(out, "html", email.has_html(), email.html());
    put_objects(out, "attachments", email.attachments(), put_attachment);
    put_objects(out, "codes", email.summary().codes(), put_code);
    put_objects(out, "links", email.links(), put_link);
    out.null_member("authentication");
    put_envelope(out, email.envelope());
    if (routing.is_known())
        put_objects(out, "routing", routing.rules(), put_rule);
    else
        out.null_member("routing");
    put_texts(out, "defects", email.defects());
    out.end_object();
    return out.take();
}

std::string to_json(const inbox::v1::EmailSummary& email)
{
    json::writer out;
    put_summary(out, email, email_extras());
    return out.take();
}

std::string to_json(const inbox::v1::ListEmailsResponse& list, const email_extras& extras)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "emails", list.emails(),
                [&](json::writer& to, const inbox::v1::EmailSummary& email) {
                    put_summary(to, email, extras);
                });
    put_cursor(out, list.next_cursor());
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway
