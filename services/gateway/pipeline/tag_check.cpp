#include "gateway/pipeline/tag_check.hpp"

#include "common/async/gather.hpp"
#include "common/json/value.hpp"
#include "gateway/pipeline/tagged_account.hpp"

namespace tempinbox::gateway {
namespace {

// The last segment of the path.
std::string_view id_of(std::string_view location)
{
    return location.substr(location.rfind('/') + 1);
}

// The one that Location names, or those of a batch.
std::vector<std::string> created_inboxes(const http::response& created)
{
    std::vector<std::string> ids;
    if (const auto location = http::find_header(created.headers, "Location")) {
        ids.emplace_back(id_of(*location));
        return ids;
    }
    const auto body = json::value::parse(created.body, {.bytes = created.body.size()});
    const auto results = body ? body->find("results") : std::nullopt;
    if (!results || !results->is_array())
        return ids;
    for (const auto& one : results->items())
        if (one["inbox"].is_object())
            ids.push_back(one["inbox"]["inboxId"].text());
    return ids;
}

} // namespace

awaitable<refusal> tag_check::check(const http::request& received, const caller& who)
{
    if (!who.tag())
        co_return std::nullopt;
    inbox::v1::CheckTagRequest request;
    put_tagged_account(*request.mutable_tagged_account(), who);
    if (const auto inbox = inbox_id::parse(received.path_param("inboxId")))
        request.set_inbox_id(inbox->text());
    else if (const auto email = email_id::parse(received.path_param("emailId")))
        request.set_email_id(email->text());
    else
        co_return std::nullopt;
    co_return co_await ask(std::move(request), who.account());
}

awaitable<refusal> tag_check::check_created(const http::response& created, const caller& who)
{
    if (!who.tag())
        co_return std::nullopt;
    std::vector<awaitable<refusal>> checks;
    for (auto& id : created_inboxes(created)) {
        inbox::v1::CheckTagRequest request;
        put_tagged_account(*request.mutable_tagged_account(), who);
        request.set_inbox_id(std::move(id));
        checks.push_back(ask(std::move(request), who.account()));
    }
    for (auto& refused : co_await async::gather(std::move(checks)))
        if (refused)
            co_return std::move(refused);
    co_return std::nullopt;
}

awaitable<refusal> tag_check::ask(inbox::v1::CheckTagRequest request, account_id account)
{
    const auto found =
        co_await inboxes_.call_batched(inbox_methods::check_tag, std::move(request), account);
    if (!found)
        co_return http::error_response(found.error());
    co_return std::nullopt;
}

} // namespace tempinbox::gateway
