#include "rate-limit/quota_rpc.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t most_units = 1'000'000'000;
constexpr int most_days = 366;

std::int64_t to_seconds(day date)
{
    return std::chrono::duration_cast<std::chrono::seconds>(date.time_since_epoch()).count();
}

result<std::vector<ask>> read_asks(const ratelimit::v1::TakeQuotaRequest& request)
{
    if (request.items_size() > most_items)
        return failure{errc::invalid_argument,
                       "items must be at most " + std::to_string(most_items)};
    std::vector<ask> asks;
    asks.reserve(static_cast<std::size_t>(request.items_size()));
    for (const auto& item : request.items()) {
        const auto account = account_id::parse(item.account_id());
        if (!account)
            return account.error();
        if (item.units() < 0 || item.units() > most_units)
            return failure{errc::invalid_argument,
                           "units must be from 0 to " + std::to_string(most_units)};
        if (item.limit() < 0)
            return failure{errc::invalid_argument, "limit must not be negative"};
        asks.push_back(
            ask{*account, item.units(), known_limit(item.limit(), item.limit_version())});
    }
    return asks;
}

// The day before at the earliest: gateways give up what is older.
day read_day_of_debt(const ratelimit::v1::Debt& told, day today)
{
    if (!told.has_day())
        return today;
    const auto told_day = std::chrono::floor<std::chrono::days>(
        std::chrono::sys_seconds(std::chrono::seconds(told.day().seconds())));
    return std::clamp(told_day, today - std::chrono::days(1), today);
}

// Nil where the item has none.
result<debt> read_debt(const ratelimit::v1::QuotaItem& item, account_id account, day today)
{
    if (!item.has_debt())
        return debt();
    const auto id = uuid::parse(item.debt().debt_id());
    if (!id || id->is_nil())
        return failure{errc::invalid_argument, "debt_id must be a UUID"};
    if (item.debt().units() < 1 || item.debt().units() > most_units)
        return failure{errc::invalid_argument,
                       "units of a debt must be from 1 to " + std::to_string(most_units)};
    return debt(*id, account, read_day_of_debt(item.debt(), today), item.debt().units(),
                known_limit(item.limit(), item.limit_version()));
}

ratelimit::v1::TakeQuotaResponse to_response(const std::vector<decision>& decisions, day today)
{
    ratelimit::v1::TakeQuotaResponse response;
    response.mutable_day()->set_seconds(to_seconds(today));
    for (const auto& made : decisions) {
        auto& item = *response.add_results();
        item.set_granted(made.granted);
        item.set_undecided(made.undecided);
        if (!made.is_known)
            continue;
        item.set_limit(made.limit);
        item.set_remaining(made.remaining);
        item.set_reset(reset_after(made.on_day));
    }
    return response;
}

// Blocks that are asked back, all at once.
struct returning
{
    std::size_t open;
    std::vector<account_id> returned;
    runtime::completion done;

    returning(const boost::asio::any_io_executor& executor, std::size_t count)
        : open(count),
          done(executor)
    {}
};

awaitable<void> give_back_one(lease_book& leases, account_id account, day on_day,
                              std::shared_ptr<returning> all)
{
    if (co_await leases.give_back(account, on_day))
        all->returned.push_back(account);
    if (--all->open == 0)
        all->done.set();
}

} // namespace

void quota_rpc::add_to(rpc::server& server)
{
    using namespace ratelimit::v1;
    const std::string service = "tempinbox.ratelimit.v1.RateLimitService/";
    server.add<TakeQuotaRequest, TakeQuotaResponse>(
        service + "TakeQuota",
        [this](TakeQuotaRequest request) { return take(std::move(request)); });
    server.add<ReturnBlockRequest, ReturnBlockResponse>(
        service + "ReturnBlock",
        [this](ReturnBlockRequest request) { return give_back(std::move(request)); });
    server.add<GetUsageRequest, GetUsageResponse>(
        service + "GetUsage",
        [this](GetUsageRequest request) { return usage(std::move(request)); });
}

awaitable<result<ratelimit::v1::TakeQuotaResponse>>
quota_rpc::take(ratelimit::v1::TakeQuotaRequest request)
{
    auto asks = read_asks(request);
    if (!asks)
        co_return asks.error();
    std::vector<debt> debts;
    debts.reserve(asks->size());
    const day today = day_of(clock_.now());
    for (int i = 0; i < request.items_size(); ++i) {
        const auto told =
            read_debt(request.items(i), (*asks)[static_cast<std::size_t>(i)].account, today);
        if (!told)
            co_return told.error();
        debts.push_back(*told);
    }
    // Requests do not wait for debts: an answer that comes before a debt is stored says so, and it
    // is told again.
    std::vector<bool> are_stored;
    are_stored.reserve(debts.size());
    for (const auto& told : debts)
        are_stored.push_back(!told.id.is_nil() && debts_.take(told));
    const auto decisions = co_await leases_.take(std::move(*asks));
    auto response = to_response(decisions, day_of(clock_.now()));
    for (std::size_t i = 0; i < are_stored.size(); ++i)
        response.mutable_results(static_cast<int>(i))->set_is_debt_stored(are_stored[i]);
    co_return response;
}

awaitable<result<ratelimit::v1::ReturnBlockResponse>>
quota_rpc::give_back(ratelimit::v1::ReturnBlockRequest request)
{
    if (request.account_ids_size() > most_items)
        co_return failure(errc::invalid_argument,
                          "account_ids must be at most " + std::to_string(most_items));
    const day on_day = std::chrono::floor<std::chrono::days>(
        std::chrono::sys_seconds(std::chrono::seconds(request.day().seconds())));
    std::vector<account_id> accounts;
    for (const auto& text : request.account_ids()) {
        const auto account = account_id::parse(text);
        if (!account)
            co_return account.error();
        accounts.push_back(*account);
    }
    ratelimit::v1::ReturnBlockResponse response;
    if (accounts.empty())
        co_return response;
    const auto all = std::make_shared<returning>(host_.executor(), accounts.size());
    for (const auto& account : accounts)
        boost::asio::co_spawn(host_.loop(), give_back_one(leases_, account, on_day, all),
                              boost::asio::detached);
    co_await all->done.wait_until(std::chrono::steady_clock::now() + 1s);
    for (const auto& account : all->returned)
        response.add_account_ids(account.text());
    co_return response;
}

awaitable<result<ratelimit::v1::GetUsageResponse>>
quota_rpc::usage(ratelimit::v1::GetUsageRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    if (request.days() < 1 || request.days() > most_days)
        co_return failure(errc::invalid_argument,
                          "days must be from 1 to " + std::to_string(most_days));
    co_await leases_.tell(*account);
    const day today = day_of(clock_.now());
    const auto uses =
        co_await store_.list_days(*account, today - std::chrono::days(request.days() - 1));
    ratelimit::v1::GetUsageResponse response;
    response.mutable_today()->set_seconds(to_seconds(today));
    for (const auto& use : uses) {
        auto& line = *response.add_days();
        line.mutable_day()->set_seconds(to_seconds(use.on_day));
        line.set_requests(use.requests);
    }
    co_return response;
}

} // namespace tempinbox::rate_limit
