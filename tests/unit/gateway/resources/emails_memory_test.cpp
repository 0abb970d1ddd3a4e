#include "gateway/resources/emails.hpp"

#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace inbox::v1;

namespace {

// An inbox service with one email, whose text a test chooses.
class arranged_email
{
public:
    arranged_email()
    {
        service_.response<GetEmailRequest, GetEmailResponse>(
            "tempinbox.inbox.v1.InboxService/GetEmail",
            [this](const GetEmailRequest& request) { return email_of(request); });
        service_.response<ListEmailsRequest, ListEmailsResponse>(
            "tempinbox.inbox.v1.InboxService/ListEmails",
            [this](const ListEmailsRequest& request) { return list_of(request); });
        const auto address = service_.start();
        inboxes_ = std::make_unique<inbox_client>(testing::test_host(), address, service_.tokens());
        webhooks_ =
            std::make_unique<webhook_client>(testing::test_host(), address, service_.tokens());
    }

    http::response get(const caller& who)
    {
        http::request received;
        received.method = "GET";
        received.path_params.emplace_back("emailId", email_id::make().text());
        return testing::await(get_email(received, who, *inboxes_, *webhooks_, memory));
    }
    http::response list(const caller& who, const std::string& include = "text")
    {
        http::request received;
        received.method = "GET";
        received.query.emplace_back("include", include);
        return testing::await(list_emails(received, who, *inboxes_, memory));
    }

    std::string text;
    std::optional<std::int64_t> estimate; // of the text, if it is not exact
    response_budget memory{1'000'000};
    bool knows_links = false;
    int calls = 0;
    std::size_t used_when_read = 0; // memory, at the call for the whole response

private:
    // Whether the text is left out.
    bool is_small_call(std::int64_t max_bytes)
    {
        ++calls;
        if (max_bytes == 0)
            used_when_read = memory.used();
        return max_bytes > 0 && static_cast<std::int64_t>(text.size()) > max_bytes;
    }

    result<GetEmailResponse> email_of(const GetEmailRequest& request)
    {
        GetEmailResponse response;
        response.mutable_email()->mutable_summary()->set_email_id(request.email_id());
        if (is_small_call(request.most_bytes()))
            response.set_omitted_bytes(estimate.value_or(static_cast<std::int64_t>(text.size())));
        else
            response.mutable_email()->set_text(text);
        return response;
    }

    result<ListEmailsResponse> list_of(const ListEmailsRequest& request)
    {
        ListEmailsResponse response;
        auto& email = *response.add_emails();
        if (knows_links && request.include_links())
            email.mutable_links();
        if (is_small_call(request.most_bytes()))
            response.set_omitted_bytes(estimate.value_or(static_cast<std::int64_t>(text.size())));
        else
            email.set_text(text);
        return response;
    }

    testing::fake_service service_;
    std::unique_ptr<inbox_client> inboxes_;
    std::unique_ptr<webhook_client> webhooks_;
};

} // namespace

TEST_CASE("a small email or list is read at once and not counted", "[gateway][emails]")
{
    arranged_email arranged;
    arranged.text = "hello";
    const auto ann = testing::premium_caller();

    const auto email = arranged.get(ann);
    const auto list = arranged.list(ann);

    CHECK(email.status == 200);
    CHECK(list.status == 200);
    CHECK(list.body.find("hello") != std::string::npos);
    CHECK(arranged.calls == 2);
    CHECK(arranged.memory.used() == 0);
}

TEST_CASE("links that the inbox service does not know of are not none", "[gateway][emails]")
{
    arranged_email arranged;
    const auto ann = testing::premium_caller();

    CHECK(arranged.list(ann, "links").status == 503);
    arranged.knows_links = true;
    const auto list = arranged.list(ann, "links");

    CHECK(list.status == 200);
    CHECK(list.body.find("\"links\":[]") != std::string::npos);
}

TEST_CASE("memory for a large email or list is taken before it is read, and one copy is counted "
          "until it is sent",
          "[gateway][emails]")
{
    const auto is_list = GENERATE(false, true);
    arranged_email arranged;
    arranged.text.assign(100'000, 'x');
    const auto ann = testing::premium_caller(), bob = testing::premium_caller();
    const auto read = [&](const caller& who) {
        return is_list ? arranged.list(who) : arranged.get(who);
    };

    auto first = read(ann);
    CHECK(arranged.calls == 2);
    CHECK(arranged.used_when_read == 400'000);
    CHECK(arranged.memory.used() == first.body.size());
    const auto refused = read(ann);
    const auto other = read(bob);

    CHECK(first.body.find(arranged.text) != std::string::npos);
    CHECK(refused.status == 503);
    CHECK(http::find_header(refused.headers, "Retry-After") == "1");
    CHECK(arranged.calls == 5); // the refused one was not read whole
    CHECK(other.status == 200);
    first = http::response();
    CHECK(read(ann).status == 200);
}

TEST_CASE("an email or list that proves larger than its estimate is counted as what it is",
          "[gateway][emails]")
{
    const auto is_list = GENERATE(false, true);
    arranged_email arranged;
    arranged.text.assign(150'000, 'x');
    arranged.estimate = 10'000;
    const auto ann = testing::premium_caller(), bob = testing::premium_caller();
    const auto read = [&](const caller& who) {
        return is_list ? arranged.list(who) : arranged.get(who);
    };

    const auto first = read(ann);
    const auto refused = read(ann);

    CHECK(first.status == 200);
    CHECK(arranged.calls == 4); // the estimate fits beside the first one
    CHECK(refused.status == 503);
    CHECK(read(bob).status == 200);
}
