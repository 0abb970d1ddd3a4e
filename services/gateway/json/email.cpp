#include "gateway/json/resources.hpp"

#include "gateway/json/fields.hpp"

#include "tempinbox/inbox/v1/email_summary_fields.hpp"

#include <string_view>

namespace tempinbox::gateway {
namespace {

using addresses = google::protobuf::RepeatedPtrField<inbox::v1::EmailAddress>;

void put_address(json::writer& out, const inbox::v1::EmailAddress& one)
{
    out.begin_object().member("address", one.address()).member("name", one.name()).end_object();
}

// Writes a field of a summary by its type.
class summary_writer
{
public:
    explicit summary_writer(json::writer& out) : out_(out) {}

    template <class Value>
    void operator()(std::string_view name, const Value& value) const
    {
        out_.member(name, value);
    }

    void operator()(std::string_view name, const google::protobuf::Timestamp* time) const
    {
        if (time)
            out_.member(name, rpc::to_time(*time));
        else
            out_.null_member(name);
    }

    void operator()(std::string_view name,
                    const google::protobuf::RepeatedPtrField<std::string>& texts) const
    {
        put_texts(out_, name, texts);
    }

    void operator()(std::string_view name, const addresses& list) const
    {
        put_objects(out_, name, list, put_address);
    }

    // A list adds codes on request, and a whole email has them elsewhere.
    void operator()(std::string_view,
                    const google::protobuf::RepeatedPtrField<inbox::v1::Code>&) const
    {}

private:
    json::writer& out_;
};

void put_summary_members(json::writer& out, const inbox::v1::EmailSummary& email)
{
    inbox::v1::for_each_field(email, summary_writer(out));
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
    out.member("isInline", attachment.inline_());
    put_text(out, "sha256", attachment.has_sha256(), attachment.sha256());
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

void put_link(json::writer& out, const inbox::v1::Link& link)
{
    out.begin_object()
        .member("url", link.url())
        .member("text", link.text())
        .member("kind", link.kind())
        .end_object();
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
    if (extras.links)
        put_objects(out, "links", email.links().links(), put_link);
    out.end_object();
}

void put_envelope(json::writer& out, const inbox::v1::Envelope& envelope)
{
    out.key("envelope").begin_object();
    out.member("mailFrom", envelope.mail_from());
    out.member("remoteAddress", envelope.remote_address());
    out.member("helo", envelope.helo());
    put_text(out, "tls", envelope.has_tls(), envelope.tls());
    put_text(out, "login", envelope.has_login(), envelope.login());
    out.end_object();
}

void put_rule(json::writer& out, const webhooks::v1::RuleOutcome& rule)
{
    out.begin_object()
        .member("ruleId", rule.rule_id())
        .member("isMatch", rule.matched())
        .end_object();
}

// How far a list with filters looked.
void put_searched(json::writer& out, const inbox::v1::SearchedEmails& searched)
{
    out.key("searched").begin_object();
    out.member("emails", searched.emails());
    out.member("texts", searched.texts());
    if (searched.has_back_to())
        out.member("backTo", rpc::to_time(searched.back_to()));
    else
        out.null_member("backTo");
    out.end_object();
}

} // namespace

std::string to_json(const inbox::v1::Email& email, const webhooks::v1::GetRoutingResponse& routing)
{
    json::writer out;
    out.begin_object();
    put_summary_members(out, email.summary());
    put_objects(out, "cc", email.cc(), put_address);
    put_objects(out, "bcc", email.bcc(), put_address);
    put_objects(out, "replyTo", email.reply_to(), put_address);
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
    if (list.has_searched())
        put_searched(out, list.searched());
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway
