#include "gateway/pipeline/tag_check.hpp"

#include "gateway/pipeline/tagged_account.hpp"

namespace tempinbox::gateway {
namespace {

// The last segment of the path.
std::string_view id_of(std::string_view location)
{
    return location.substr(location.rfind('/') + 1);
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
    co_return co_await ask(std::move(request));
}

awaitable<refusal> tag_check::check_created(const http::response& created, const caller& who)
{
    const auto location = http::find_header(created.headers, "Location");
    if (!who.tag() || !location)
        co_return std::nullopt;
    inbox::v1::CheckTagRequest request;
    put_tagged_account(*request.mutable_tagged_account(), who);
    request.set_inbox_id(std::string(id_of(*location)));
    co_return co_await ask(std::move(request));
}

awaitable<refusal> tag_check::ask(inbox::v1::CheckTagRequest request)
{
    const auto found = co_await inboxes_.call(inbox_methods::check_tag, std::move(request));
    if (!found)
        co_return http::error_response(found.error());
    co_return std::nullopt;
}

} // namespace tempinbox::gateway
