#include "rate-limit/quota_rpc.hpp"

#include "common/async/wait_group.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/timestamp.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t max_units = 1'000'000'000;
constexpr int max_days = 366;

result<std::vector<quota_request>> read_requests(const ratelimit::v1::TakeQuotaRequest& request)
{
    if (request.items_size() > max_items)
        return failure{errc::invalid_argument,
                       "items must be at most " + std::to_string(max_items)};
    std::vector<quota_request> requests;
    requests.reserve(static_cast<std::size_t>(request.items_size()));
    for (const auto& item : request.items()) {
        const auto account = account_id::parse(item.account_id());
        if (!account)
            return account.error();
        if (item.units() < 0 || item.units() > max_units)
            return failure{errc::invalid_argument,
                           "units must be from 0 to " + std::to_string(max_units)};
        if (item.limit() < 0)
            return failure{errc::invalid_argument, "limit must not be negative"};
        requests.push_back(quota_request{*account, item.units(),
                                         versioned_limit(item.limit(), item.limit_version())});
    }
    return requests;
}

// Clamped to yesterday and today: gateways drop older usage.
day read_usage_day(const ratelimit::v1::Debt& reported, day today)
{
    if (!reported.has_day())
        return today;
    return std::clamp(rpc::to_day(reported.day()), today - std::chrono::days(1), today);
}

// Nil id if the item reports none.
result<unreported_usage> read_usage(const ratelimit::v1::QuotaItem& item, account_id account,
                                    day today)
{
    if (!item.has_debt())
        return unreported_usage();
    const auto id = uuid::parse(item.debt().debt_id());
    if (!id || id->is_nil())
        return failure{errc::invalid_argument, "debt_id must be a UUID"};
    if (item.debt().units() < 1 || item.debt().units() > max_units)
        return failure{errc::invalid_argument,
                       "units of a debt must be from 1 to " + std::to_string(max_units)};
    return unreported_usage(*id, account, read_usage_day(item.debt(), today), item.debt().units(),
                            versioned_limit(item.limit(), item.limit_version()));
}

ratelimit::v1::TakeQuotaResponse to_response(const std::vector<decision>& decisions, day today)
{
    ratelimit::v1::TakeQuotaResponse response;
    *response.mutable_day() = rpc::to_timestamp(today);
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

// Blocks that another replica reclaims, all at once.
struct returning
{
    async::wait_group open;
    std::vector<account_id> returned;

    returning(const boost::asio::any_io_executor& executor, std::size_t count)
        : open(executor, count)
    {}
};

awaitable<void> give_back_one(block_pool& blocks, account_id account, day on_day,
                              std::shared_ptr<returning> all)
{
    if (co_await blocks.give_back(account, on_day))
        all->returned.push_back(account);
    all->open.done();
}

} // namespace

void quota_rpc::add_to(rpc::server& server)
{
    server.add(rate_limit_methods::take_quota, *this, &quota_rpc::take);
    server.add(rate_limit_methods::return_block, *this, &quota_rpc::give_back);
    server.add(rate_limit_methods::get_usage, *this, &quota_rpc::usage);
}

awaitable<result<ratelimit::v1::TakeQuotaResponse>>
quota_rpc::take(ratelimit::v1::TakeQuotaRequest request)
{
    auto requests = read_requests(request);
    if (!requests)
        co_return requests.error();
    std::vector<unreported_usage> usages;
    usages.reserve(requests->size());
    const day today = day_of(clock_.now());
    for (int i = 0; i < request.items_size(); ++i) {
        const auto reported =
            read_usage(request.items(i), (*requests)[static_cast<std::size_t>(i)].account, today);
        if (!reported)
            co_return reported.error();
        usages.push_back(*reported);
    }
    // Requests do not wait for reported usage to be stored: `is_debt_stored` says whether it is,
    // and the gateway reports it again until it is.
    std::vector<bool> are_stored;
    are_stored.reserve(usages.size());
    for (const auto& reported : usages)
        are_stored.push_back(!reported.id.is_nil() && reconciler_.take(reported));
    const auto decisions = co_await blocks_.take(std::move(*requests));
    auto response = to_response(decisions, day_of(clock_.now()));
    for (std::size_t i = 0; i < are_stored.size(); ++i)
        response.mutable_results(static_cast<int>(i))->set_is_debt_stored(are_stored[i]);
    co_return response;
}

awaitable<result<ratelimit::v1::ReturnBlockResponse>>
quota_rpc::give_back(ratelimit::v1::ReturnBlockRequest request)
{
    if (request.account_ids_size() > max_items)
        co_return failure(errc::invalid_argument,
                          "account_ids must be at most " + std::to_string(max_items));
    const day on_day = rpc::to_day(request.day());
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
        boost::asio::co_spawn(host_.loop(), give_back_one(blocks_, account, on_day, all),
                              boost::asio::detached);
    co_await all->open.wait_until(std::chrono::steady_clock::now() + 1s);
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
    if (request.days() < 1 || request.days() > max_days)
        co_return failure(errc::invalid_argument,
                          "days must be from 1 to " + std::to_string(max_days));
    co_await blocks_.report_usage(*account);
    const day today = day_of(clock_.now());
    const auto uses =
        co_await repository_.list_days(*account, today - std::chrono::days(request.days() - 1));
    ratelimit::v1::GetUsageResponse response;
    *response.mutable_today() = rpc::to_timestamp(today);
    for (const auto& use : uses) {
        auto& line = *response.add_days();
        *line.mutable_day() = rpc::to_timestamp(use.on_day);
        line.set_requests(use.requests);
    }
    co_return response;
}

} // namespace tempinbox::rate_limit
