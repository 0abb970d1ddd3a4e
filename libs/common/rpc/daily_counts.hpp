#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/rpc/server.hpp"
#include "common/rpc/timestamp.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tempinbox::rpc {

// The counts of an account's last `days` days, the current one included.
using count_days = std::function<awaitable<std::vector<daily_count>>(account_id account, int days)>;

// The account that a request names; refuses a number of days outside 1 to 60.
template <class Request>
result<account_id> check_count_request(const Request& request)
{
    constexpr int max_days = 60;
    auto account = account_id::parse(request.account_id());
    if (account && (request.days() < 1 || request.days() > max_days))
        return failure(errc::invalid_argument,
                       "days must be from 1 to " + std::to_string(max_days));
    return account;
}

// `set_number` writes the number of one line, next to its day.
template <class Response, class Line>
Response count_response(const std::vector<daily_count>& counts,
                        void (Line::*set_number)(google::protobuf::int64))
{
    Response response;
    for (const auto& each : counts) {
        Line& line = *response.add_days();
        *line.mutable_day() = to_timestamp(each.day);
        (line.*set_number)(each.number);
    }
    return response;
}

// An RPC that returns how much of something an account had, day by day: {account_id, days} to
// {days: [{day, <number>}]}.
template <class Request, class Response, class Line>
class daily_count_rpc
{
public:
    daily_count_rpc(count_days count, void (Line::*set_number)(google::protobuf::int64))
        : count_(std::move(count)),
          set_number_(set_number)
    {}

    // The object must live at least as long as the server.
    void add_to(server& rpc_server, const method<Request, Response>& served)
    {
        rpc_server.add(served, *this, &daily_count_rpc::handle);
    }

    awaitable<result<Response>> handle(Request request)
    {
        const auto account = check_count_request(request);
        if (!account)
            co_return account.error();
        const auto counts = co_await count_(*account, request.days());
        co_return count_response<Response>(counts, set_number_);
    }

private:
    count_days count_;
    void (Line::*set_number_)(google::protobuf::int64);
};

} // namespace tempinbox::rpc
