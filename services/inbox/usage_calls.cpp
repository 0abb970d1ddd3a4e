#include "inbox/usage_calls.hpp"

namespace tempinbox::inbox {
namespace {

constexpr int most_days = 60;

} // namespace

void usage_calls::add_to(rpc::server& server)
{
    server.add<v1::CountEmailsRequest, v1::CountEmailsResponse>(
        "tempinbox.inbox.v1.InboxService/CountEmails",
        [this](v1::CountEmailsRequest request) { return count(std::move(request)); });
}

awaitable<result<v1::CountEmailsResponse>> usage_calls::count(v1::CountEmailsRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    if (request.days() < 1 || request.days() > most_days)
        co_return failure(errc::invalid_argument, "days must be from 1 to " + std::to_string(most_days));
    const auto counts = co_await counts_.list(*account, request.days());
    v1::CountEmailsResponse response;
    for (const auto& each : counts) {
        auto& line = *response.add_days();
        line.mutable_day()->set_seconds(std::chrono::seconds(each.day.time_since_epoch()).count());
        line.set_emails(each.emails);
    }
    co_return response;
}

} // namespace tempinbox::inbox
