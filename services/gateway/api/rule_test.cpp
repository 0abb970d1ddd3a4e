#include "common/core/text.hpp"
#include "gateway/api/json.hpp"
#include "gateway/api/query_reader.hpp"
#include "gateway/api/rule_fields.hpp"
#include "gateway/api/rules.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t most_drafts = 20;
constexpr std::size_t longest_address = 1'000;
constexpr std::size_t longest_subject = 1'000;
constexpr std::size_t most_recipients = 100;
constexpr std::size_t longest_id = 100; // only so that messages stay short

// What is to be tested: the mail's fields are in the request already unless it is an email of the
// account.
struct asked_test
{
    webhooks::v1::TestRulesRequest request;
    std::optional<email_id> email;
};

// One recipient as a string, or several.
std::vector<std::string> read_recipients(json::object_reader& body)
{
    if (!body.has_text("to"))
        return body.texts("to", most_recipients, 1, longest_address)
            .value_or(std::vector<std::string>());
    const auto only = body.text("to", 0, longest_address);
    if (!only || only->empty())
        return {};
    return {*only};
}

void read_mail(json::object_reader& body, asked_test& asked)
{
    const bool has_fields = body.has("from") || body.has("to") || body.has("subject");
    const auto recipients = read_recipients(body);
    asked.request.set_from(body.text("from", 0, longest_address).value_or(""));
    asked.request.mutable_to()->Assign(recipients.begin(), recipients.end());
    asked.request.set_subject(body.text("subject", 0, longest_subject).value_or(""));
    if (const auto given = body.text("emailId", 1, longest_id)) {
        if (has_fields)
            body.fail("emailId stands for from, to and subject: give it or them, not both");
        const auto id = email_id::parse(*given);
        if (id)
            asked.email = *id;
        else
            body.fail(id.error().message);
    } else if (!has_fields) {
        body.fail("body must have emailId or at least one of from, to, subject");
    }
}

// An unsaved rule: as in POST /dashboard/api/rules, but only what is known yet; `id` names the
// saved rule it is a version of.
webhooks::v1::Rule read_draft(json::object_reader& fields)
{
    webhooks::v1::Rule draft;
    if (const auto given = fields.text("id", 1, longest_id)) {
        const auto id = uuid::parse(*given);
        if (id)
            draft.set_rule_id(id->text());
        else
            fields.fail("id must be a UUID, not " + quote(*given));
    }
    draft.set_name(fields.text("name", 0, longest_rule_name).value_or(""));
    draft.set_webhook_id(read_webhook_id(fields).value_or(""));
    if (const auto conditions = read_conditions(fields))
        draft.mutable_conditions()->Assign(conditions->begin(), conditions->end());
    draft.set_is_enabled(fields.boolean("isEnabled").value_or(true));
    return draft;
}

void read_drafts(json::object_reader& body, asked_test& asked)
{
    const auto given = body.objects("rules", most_drafts);
    if (!given)
        return;
    auto& drafts = *asked.request.mutable_rules();
    for (const auto& item : *given) {
        json::object_reader fields(item);
        auto draft = read_draft(fields);
        take_problem(body, "rules[" + std::to_string(drafts.rules_size()) + "]", fields);
        *drafts.add_rules() = std::move(draft);
    }
}

result<asked_test> read_test(const http::request& received, const caller& who)
{
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    auto body = json::object_reader::parse(received.body);
    if (!body)
        return body.error();

    asked_test asked;
    *asked.request.mutable_account() = plans::to_proto(who.state);
    read_mail(*body, asked);
    read_drafts(*body, asked);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return asked;
}

inbox::v1::GetEmailRequest email_request(const caller& who, email_id id)
{
    inbox::v1::GetEmailRequest wanted;
    wanted.set_account_id(who.account().text());
    wanted.set_email_id(id.text());
    return wanted;
}

// What the dispatcher saw of it: the fields of its event.
void take_mail(webhooks::v1::TestRulesRequest& request, const inbox::v1::EmailSummary& email)
{
    request.set_from(email.from());
    *request.mutable_to() = email.to();
    request.set_subject(email.subject());
}

} // namespace

// POST /dashboard/api/rules/test
awaitable<http::response> test_rules(const http::request& received, const caller& who,
                                     webhook_client& webhooks, inbox_client& inboxes)
{
    auto asked = read_test(received, who);
    if (!asked)
        co_return http::error_response(asked.error());
    if (asked->email) {
        auto wanted = email_request(who, *asked->email);
        const auto found = co_await inboxes.find_email(std::move(wanted));
        if (!found)
            co_return http::error_response(found.error());
        take_mail(asked->request, found->email().summary());
    }

    const auto tested = co_await webhooks.test_rules(std::move(asked->request));
    if (!tested)
        co_return http::error_response(tested.error());

    co_return http::ok_json(to_json(*tested));
}

} // namespace tempinbox::gateway
