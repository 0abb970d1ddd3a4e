#include "gateway/resources/captures.hpp"

#include "common/credentials/capture_login.hpp"
#include "common/json/value.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace inbox::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

// Handlers against an inbox service on loopback that records its requests.
class arranged_logins
{
public:
    arranged_logins()
    {
        service_.response<CreateLoginRequest, CreateLoginResponse>(
            "tempinbox.inbox.v1.InboxService/CreateLogin",
            [this](const CreateLoginRequest& request) {
                created = request;
                CreateLoginResponse response;
                response.mutable_login()->set_user("cap_a1");
                return result<CreateLoginResponse>(response);
            });
        service_.response<RotateLoginRequest, RotateLoginResponse>(
            "tempinbox.inbox.v1.InboxService/RotateLogin",
            [this](const RotateLoginRequest& request) {
                rotated = request;
                RotateLoginResponse response;
                response.mutable_login()->set_user("cap_a1");
                return result<RotateLoginResponse>(response);
            });
        service_.response<EndLoginRequest, EndLoginResponse>(
            "tempinbox.inbox.v1.InboxService/EndLogin", [this](const EndLoginRequest& request) {
                ended = request;
                return result<EndLoginResponse>(EndLoginResponse());
            });
        client_ = std::make_unique<inbox_client>(testing::test_host(), service_.start(),
                                                 service_.tokens());
    }

    using operation = awaitable<http::response> (*)(const http::request&, const caller&,
                                                    inbox_client&, const capture_server&);
    http::response call(operation handle, const std::string& body)
    {
        return testing::await(handle(request_with(body), who, *client_, server));
    }
    http::response end() { return testing::await(end_login(request_with(""), who, *client_)); }

    caller who = testing::premium_caller();
    capture_server server{"smtp.x.test", {587}, {}, {}};
    std::optional<CreateLoginRequest> created;
    std::optional<RotateLoginRequest> rotated;
    std::optional<EndLoginRequest> ended;

private:
    http::request request_with(const std::string& body)
    {
        received_ = {};
        received_.body = body;
        received_.path_params = {{"inboxId", some_id}};
        return received_;
    }

    testing::fake_service service_;
    std::unique_ptr<inbox_client> client_;
    http::request received_;
};

json::value body_of(const http::response& response)
{
    return json::value::parse(response.body).value();
}

} // namespace

TEST_CASE("a new login is shown with its password, which only its digest leaves",
          "[gateway][captures]")
{
    arranged_logins arranged;
    arranged.who.chosen_id = *uuid::parse(some_id);

    const auto response = arranged.call(create_login, "");

    const auto password = body_of(response)["password"].text();
    CHECK(response.status == 201);
    CHECK(http::find_header(response.headers, "Location") == "/v1/inboxes/" + some_id);
    CHECK(credentials::is_capture_password(password));
    REQUIRE(arranged.created);
    CHECK(arranged.created->inbox_id() == some_id);
    CHECK(arranged.created->account().account_id() == arranged.who.account().text());
    CHECK(arranged.created->login().login_id() == some_id);
    CHECK(arranged.created->login().password_sha256() ==
          credentials::capture_password_digest(password));
    CHECK(arranged.call(create_login, R"({"name":"a"})").status == 400);
}

TEST_CASE("a rotation keeps the old password for a while, if asked to", "[gateway][captures]")
{
    arranged_logins arranged;

    const auto response = arranged.call(rotate_login, R"({"graceSeconds":60})");

    CHECK(response.status == 200);
    REQUIRE(arranged.rotated);
    CHECK(arranged.rotated->grace_seconds() == 60);
    CHECK(arranged.rotated->password_sha256() ==
          credentials::capture_password_digest(body_of(response)["password"].text()));
    arranged.call(rotate_login, "");
    CHECK(arranged.rotated->grace_seconds() == 0);
    for (const char* body : {R"({"graceSeconds":-1})", R"({"graceSeconds":86401})",
                             R"({"graceSeconds":"60"})", R"({"grace":1})"})
        CHECK(arranged.call(rotate_login, body).status == 400);
}

TEST_CASE("the end of a login says whose it was", "[gateway][captures]")
{
    arranged_logins arranged;

    const auto response = arranged.end();

    CHECK(response.status == 200);
    CHECK(response.body == R"({"inboxId":")" + some_id + R"(","deleted":true})");
    CHECK(arranged.ended->account_id() == arranged.who.account().text());
}

TEST_CASE("where the operator takes no such mail, no login is made or rotated",
          "[gateway][captures]")
{
    arranged_logins arranged;
    arranged.server = {};

    for (const auto handle : {create_login, check_new_login, rotate_login, check_login_rotation}) {
        const auto response = arranged.call(handle, "");
        CHECK(response.status == 400);
        // Its body has no field that could be left out.
        CHECK_THAT(body_of(response)["message"].text(),
                   Catch::StartsWith("This service has no logins: ") &&
                       Catch::Contains("capture-host"));
    }
    CHECK_FALSE(arranged.created);
    CHECK_FALSE(arranged.rotated);
}
