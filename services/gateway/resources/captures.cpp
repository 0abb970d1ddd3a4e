#include "gateway/resources/captures.hpp"

#include "common/credentials/capture_login.hpp"
#include "common/json/object_reader.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/path_ids.hpp"

#include <string>
#include <utility>

namespace tempinbox::gateway {
namespace {

constexpr std::int64_t max_grace_seconds = 86'400;

const std::string not_set = "the operator has not set capture-host and capture-starttls-ports, "
                            "capture-tls-ports or capture-clear-ports";

// For requests whose bodies have no field to leave out.
result<void> check_logins(const capture_server& server)
{
    if (server.is_set())
        return {};
    return failure{errc::invalid_argument, "This service has no logins: " + not_set};
}

// A call with the password whose digest it sends.
template <class Request>
struct with_password
{
    Request request;
    secret password;
};

std::string digest_of(const secret& password)
{
    return credentials::capture_password_digest(password.reveal());
}

result<with_password<inbox::v1::CreateLoginRequest>>
read_new_login(const http::request& received, const caller& who, const capture_server& server)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    auto body = read_body(received);
    if (!body)
        return body.error();
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (const auto served = check_logins(server); !served)
        return served.error();

    with_password<inbox::v1::CreateLoginRequest> call{{}, credentials::make_capture_password()};
    *call.request.mutable_account() = plans::to_proto(who.state);
    call.request.set_inbox_id(id->text());
    auto& login = *call.request.mutable_login();
    login.set_login_id(who.new_id<login_id>().text());
    login.set_password_sha256(digest_of(call.password));
    return call;
}

result<with_password<inbox::v1::RotateLoginRequest>>
read_rotation(const http::request& received, const caller& who, const capture_server& server)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    auto body = read_body(received);
    if (!body)
        return body.error();
    const auto grace = body->integer("graceSeconds", 0, max_grace_seconds);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (const auto served = check_logins(server); !served)
        return served.error();

    with_password<inbox::v1::RotateLoginRequest> call{{}, credentials::make_capture_password()};
    call.request.set_account_id(who.account().text());
    call.request.set_inbox_id(id->text());
    call.request.set_rotation_id(who.new_id<login_id>().text());
    call.request.set_password_sha256(digest_of(call.password));
    call.request.set_grace_seconds(grace.value_or(0));
    return call;
}

} // namespace

result<void> check_captures(const capture_server& server)
{
    if (server.is_set())
        return {};
    return failure{errc::invalid_argument, "capture must be left out here: " + not_set};
}

// POST /v1/inboxes/{inboxId}/capture
awaitable<http::response> create_login(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server)
{
    auto requested = read_new_login(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());

    const auto created = co_await inboxes.call(inbox_methods::create_login, requested->request);
    if (!created)
        co_return http::error_response(created.error());

    co_return http::created_json(to_json(created->login(), server, requested->password),
                                 who.location_of("inboxes", requested->request.inbox_id()));
}

awaitable<http::response> check_new_login(const http::request& received, const caller& who,
                                          inbox_client&, const capture_server& server)
{
    const auto requested = read_new_login(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());
    co_return http::response(204, "", "");
}

// POST /v1/inboxes/{inboxId}/capture/rotate
awaitable<http::response> rotate_login(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server)
{
    auto requested = read_rotation(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());

    const auto rotated = co_await inboxes.call(inbox_methods::rotate_login, requested->request);
    if (!rotated)
        co_return http::error_response(rotated.error());

    co_return http::ok_json(to_json(rotated->login(), server, requested->password));
}

awaitable<http::response> check_login_rotation(const http::request& received, const caller& who,
                                               inbox_client&, const capture_server& server)
{
    const auto requested = read_rotation(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());
    co_return http::response(204, "", "");
}

// DELETE /v1/inboxes/{inboxId}/capture
awaitable<http::response> end_login(const http::request& received, const caller& who,
                                    inbox_client& inboxes)
{
    const auto request =
        without_query(received, read_inbox_path<inbox::v1::EndLoginRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto ended = co_await inboxes.call(inbox_methods::end_login, *request);
    if (!ended)
        co_return http::error_response(ended.error());

    co_return http::ok_json(deleted_json("inboxId", request->inbox_id()));
}

} // namespace tempinbox::gateway
