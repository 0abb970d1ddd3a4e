#include "gateway/resources/faults.hpp"

#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/fault_steps.hpp"
#include "gateway/resources/path_ids.hpp"

namespace tempinbox::gateway {
namespace {

result<inbox::v1::SetFaultsRequest> read_faults(const http::request& received, const caller& who)
{
    auto request =
        without_query(received, read_inbox_path<inbox::v1::SetFaultsRequest>(received, who));
    if (!request)
        return request.error();
    auto body = read_body(received);
    if (!body)
        return body.error();
    *request->mutable_steps() = read_fault_steps(*body);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return request;
}

} // namespace

// GET /v1/inboxes/{inboxId}/faults
awaitable<http::response> get_faults(const http::request& received, const caller& who,
                                     inbox_client& inboxes)
{
    const auto request =
        without_query(received, read_inbox_path<inbox::v1::GetFaultsRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await inboxes.call(inbox_methods::get_faults, *request);
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(found->faults()));
}

// PUT /v1/inboxes/{inboxId}/faults
awaitable<http::response> set_faults(const http::request& received, const caller& who,
                                     inbox_client& inboxes)
{
    const auto request = read_faults(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto replaced = co_await inboxes.call(inbox_methods::set_faults, *request);
    if (!replaced)
        co_return http::error_response(replaced.error());

    co_return http::ok_json(to_json(replaced->faults()));
}

// DELETE /v1/inboxes/{inboxId}/faults
awaitable<http::response> clear_faults(const http::request& received, const caller& who,
                                       inbox_client& inboxes)
{
    const auto request =
        without_query(received, read_inbox_path<inbox::v1::ClearFaultsRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto cleared = co_await inboxes.call(inbox_methods::clear_faults, *request);
    if (!cleared)
        co_return http::error_response(cleared.error());

    co_return http::ok_json(deleted_json("inboxId", request->inbox_id()));
}

// GET /v1/inboxes/{inboxId}/sender-report
awaitable<http::response> get_sender_report(const http::request& received, const caller& who,
                                            inbox_client& inboxes)
{
    const auto request =
        without_query(received, read_inbox_path<inbox::v1::GetSenderReportRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await inboxes.call(inbox_methods::get_sender_report, *request);
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(found->report()));
}

} // namespace tempinbox::gateway
