#include "inbox/api/fault_rpc.hpp"

#include "common/faults/messages.hpp"
#include "common/rpc/inbox_methods.hpp"
#include "inbox/api/inbox_requests.hpp"
#include "inbox/senders/sender_report.hpp"

#include <utility>

namespace tempinbox::inbox {
namespace {

v1::FaultSet to_message(const mailbox::fault_set& faults)
{
    v1::FaultSet message;
    *message.mutable_steps() = faults::to_proto(faults.steps);
    for (const auto used : faults.used)
        message.add_used(used);
    return message;
}

} // namespace

void fault_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::get_faults, *this, &fault_rpc::get);
    server.add(inbox_methods::set_faults, *this, &fault_rpc::set);
    server.add(inbox_methods::clear_faults, *this, &fault_rpc::clear);
    server.add(inbox_methods::get_sender_report, *this, &fault_rpc::get_sender_report);
}

awaitable<result<v1::GetFaultsResponse>> fault_rpc::get(v1::GetFaultsRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto found = co_await faults_.find(account, id);
    if (!found)
        co_return found.error();
    v1::GetFaultsResponse response;
    *response.mutable_faults() = to_message(*found);
    co_return response;
}

awaitable<result<v1::SetFaultsResponse>> fault_rpc::set(v1::SetFaultsRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;
    auto steps = faults::from_proto(request.steps());
    if (!steps)
        co_return steps.error();

    const auto replaced = co_await faults_.replace(account, id, std::move(*steps));
    if (!replaced)
        co_return replaced.error();
    v1::SetFaultsResponse response;
    *response.mutable_faults() = to_message(*replaced);
    co_return response;
}

awaitable<result<v1::ClearFaultsResponse>> fault_rpc::clear(v1::ClearFaultsRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto replaced = co_await faults_.replace(account, id, {});
    if (!replaced)
        co_return replaced.error();
    co_return v1::ClearFaultsResponse();
}

awaitable<result<v1::GetSenderReportResponse>>
fault_rpc::get_sender_report(v1::GetSenderReportRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto attempts = co_await attempts_.find(account, id);
    if (!attempts)
        co_return attempts.error();
    v1::GetSenderReportResponse response;
    *response.mutable_report() = make_sender_report(*attempts, host_.clock().now());
    co_return response;
}

} // namespace tempinbox::inbox
