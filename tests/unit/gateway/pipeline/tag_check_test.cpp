#include "gateway/pipeline/tag_check.hpp"

#include "unit/gateway/resources/operations_fixture.hpp"

#include <set>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace inbox::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

// The check against an inbox service on loopback that records what it is asked.
class arranged_check
{
public:
    arranged_check()
    {
        who.access.tag = "ci";
        service_.response<CheckTagRequest, CheckTagResponse>(
            "tempinbox.inbox.v1.InboxService/CheckTag",
            [this](const CheckTagRequest& request) -> result<CheckTagResponse> {
                asked = request;
                all_asked.insert(request.inbox_id());
                if (is_outside || (!outside.empty() && request.inbox_id() == outside))
                    return failure{errc::not_found, "It does not exist"};
                return CheckTagResponse();
            });
        client_ = std::make_unique<inbox_client>(testing::test_host(), service_.start(),
                                                 service_.tokens());
    }

    std::optional<http::response> check(const std::string& name, const std::string& id)
    {
        http::request received;
        received.path_params.emplace_back(name, id);
        tag_check checked(*client_);
        return testing::await(checked.check(received, who));
    }
    std::optional<http::response> check_created(const std::string& location)
    {
        http::response created(201, "application/json", "{}");
        if (!location.empty())
            created.set("Location", location);
        tag_check checked(*client_);
        return testing::await(checked.check_created(created, who));
    }
    std::optional<http::response> check_batch(const std::string& results)
    {
        const http::response created(200, "application/json", "{\"results\":[" + results + "]}");
        tag_check checked(*client_);
        return testing::await(checked.check_created(created, who));
    }

    caller who = testing::premium_caller();
    bool is_outside = false;
    std::string outside; // this inbox alone
    std::set<std::string> all_asked;
    std::optional<CheckTagRequest> asked;

private:
    testing::fake_service service_;
    std::unique_ptr<inbox_client> client_;
};

} // namespace

TEST_CASE("without a tag nothing is asked", "[gateway][key-access]")
{
    arranged_check arranged;
    arranged.who.access.tag = std::nullopt;
    arranged.is_outside = true;

    CHECK_FALSE(arranged.check("inboxId", some_id));
    CHECK_FALSE(arranged.check_created("/v1/inboxes/" + some_id));

    CHECK_FALSE(arranged.asked);
}

TEST_CASE("an inbox and an email are asked for by the account and its tag", "[gateway][key-access]")
{
    arranged_check arranged;

    CHECK_FALSE(arranged.check("inboxId", some_id));
    REQUIRE(arranged.asked);
    CHECK(arranged.asked->inbox_id() == some_id);
    CHECK(arranged.asked->tagged_account().account_id() == arranged.who.account().text());
    CHECK(arranged.asked->tagged_account().tag() == "ci");

    CHECK_FALSE(arranged.check("emailId", some_id));
    CHECK(arranged.asked->email_id() == some_id);
    CHECK(arranged.asked->inbox_id().empty());
}

TEST_CASE("what is outside the tag is 404", "[gateway][key-access]")
{
    arranged_check arranged;
    arranged.is_outside = true;

    const auto refused = arranged.check("inboxId", some_id);
    const auto created = arranged.check_created("/v1/inboxes/" + some_id);

    REQUIRE(refused);
    CHECK(refused->status == 404);
    REQUIRE(created);
    CHECK(created->status == 404);
    CHECK(arranged.asked->inbox_id() == some_id);
}

TEST_CASE("an id that is none is left to the operation, and so is a response without a place",
          "[gateway][key-access]")
{
    arranged_check arranged;
    arranged.is_outside = true;

    CHECK_FALSE(arranged.check("inboxId", "nonsense"));
    CHECK_FALSE(arranged.check("webhookId", some_id));
    CHECK_FALSE(arranged.check_created(""));

    CHECK_FALSE(arranged.asked);
}

TEST_CASE("of a batch that is given again each inbox must have the tag", "[gateway][key-access]")
{
    arranged_check arranged;
    const std::string other_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e60";
    const auto inbox = [](const std::string& id, const std::string& name) {
        return R"({"inbox":{"inboxId":")" + id + R"(","name":")" + name + R"("},"error":null})";
    };
    const auto batch = inbox(some_id, std::string(70'000, 'x')) +
                       R"(,{"inbox":null,"error":{"statusCode":403}},)" + inbox(other_id, "");

    CHECK_FALSE(arranged.check_batch(batch));
    CHECK(arranged.all_asked == std::set{some_id, other_id});
    arranged.outside = other_id;
    const auto refused = arranged.check_batch(batch);
    REQUIRE(refused);
    CHECK(refused->status == 404);
}
