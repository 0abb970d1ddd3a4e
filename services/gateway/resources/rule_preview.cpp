#include "common/core/text.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/rule_fields.hpp"
#include "gateway/resources/rules.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_drafts = 20;
constexpr std::size_t max_address_length = 1'000;
constexpr std::size_t max_subject_length = 1'000;
constexpr std::size_t max_recipients = 100;
constexpr std::size_t max_id_length = 100; // only to keep error messages short

// What to test. If `email` is absent, the request already has the mail's fields; otherwise they are
// read from that stored email.
struct rule_preview
{
    webhooks::v1::TestRulesRequest request;
    std::optional<email_id> email;
};

// The recipients: one string, or an array.
std::vector<std::string> read_recipients(json::object_reader& body)
{
    if (!body.has_text("to"))
        return body.texts("to", max_recipients, 1, max_address_length)
            .value_or(std::vector<std::string>());
    const auto only = body.text("to", 0, max_address_length);
    if (!only || only->empty())
        return {};
    return {*only};
}

void read_mail(json::object_reader& body, rule_preview& preview)
{
    const bool has_fields = body.has("from") || body.has("to") || body.has("subject");
    const auto recipients = read_recipients(body);
    preview.request.set_from(body.text("from", 0, max_address_length).value_or(""));
    preview.request.mutable_to()->Assign(recipients.begin(), recipients.end());
    preview.request.set_subject(body.text("subject", 0, max_subject_length).value_or(""));
    if (const auto given = body.text("emailId", 1, max_id_length)) {
        if (has_fields)
            body.fail("emailId stands for from, to and subject: give it or them, not both");
        const auto id = email_id::parse(*given);
        if (id)
            preview.email = *id;
        else
            body.fail(id.error().message);
    } else if (!has_fields) {
        body.fail("body must have emailId or at least one of from, to, subject");
    }
}

// An unsaved rule: the fields of POST /dashboard/api/rules, of which any may be missing. `id` names
// the saved rule that it would replace.
webhooks::v1::Rule read_draft(json::object_reader& fields)
{
    webhooks::v1::Rule draft;
    if (const auto given = fields.text("id", 1, max_id_length)) {
        const auto id = uuid::parse(*given);
        if (id)
            draft.set_rule_id(id->text());
        else
            fields.fail("id must be a UUID, not " + quote(*given));
    }
    draft.set_name(fields.text("name", 0, max_rule_name_length).value_or(""));
    draft.set_webhook_id(read_webhook_id(fields).value_or(""));
    if (const auto conditions = read_conditions(fields))
        draft.mutable_conditions()->Assign(conditions->begin(), conditions->end());
    draft.set_is_enabled(fields.boolean("isEnabled").value_or(true));
    return draft;
}

void read_drafts(json::object_reader& body, rule_preview& preview)
{
    const auto given = body.objects("rules", max_drafts);
    if (!given)
        return;
    auto& drafts = *preview.request.mutable_rules();
    for (const auto& item : *given) {
        json::object_reader fields(item);
        auto draft = read_draft(fields);
        report_inner_error(body, "rules[" + std::to_string(drafts.rules_size()) + "]", fields);
        *drafts.add_rules() = std::move(draft);
    }
}

result<rule_preview> read_test(const http::request& received, const caller& who)
{
    auto body = read_body(received);
    if (!body)
        return body.error();

    rule_preview preview;
    *preview.request.mutable_account() = plans::to_proto(who.state);
    read_mail(*body, preview);
    read_drafts(*body, preview);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return preview;
}

inbox::v1::GetEmailRequest email_request(const caller& who, email_id id)
{
    inbox::v1::GetEmailRequest request;
    request.set_account_id(who.account().text());
    request.set_email_id(id.text());
    return request;
}

// Copies the fields that the dispatcher gets in its event.
void take_mail(webhooks::v1::TestRulesRequest& request, const inbox::v1::EmailSummary& email)
{
    request.set_from(email.from());
    *request.mutable_to() = email.recipients();
    request.set_subject(email.subject());
}

} // namespace

// POST /dashboard/api/rules/test
awaitable<http::response> test_rules(const http::request& received, const caller& who,
                                     webhook_client& webhooks, inbox_client& inboxes)
{
    auto preview = read_test(received, who);
    if (!preview)
        co_return http::error_response(preview.error());
    if (preview->email) {
        auto request = email_request(who, *preview->email);
        const auto found = co_await inboxes.call(inbox_methods::get_email, std::move(request));
        if (!found)
            co_return http::error_response(found.error());
        take_mail(preview->request, found->email().summary());
    }

    const auto tested =
        co_await webhooks.call(webhook_methods::test_rules, std::move(preview->request));
    if (!tested)
        co_return http::error_response(tested.error());

    co_return http::ok_json(to_json(*tested));
}

} // namespace tempinbox::gateway
