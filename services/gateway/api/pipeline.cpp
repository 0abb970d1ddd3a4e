#include "gateway/api/pipeline.hpp"

#include "accounts/api_key.hpp"
#include "gateway/api/client_address.hpp"
#include "gateway/api/cors.hpp"
#include "gateway/api/request_checks.hpp"
#include "gateway/quota/rate_limit_headers.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

// Of what takes longer the key is checked again before it is answered: mostly waits, and it costs a
// look into memory.
constexpr std::chrono::milliseconds longest_without_check{100};

http::response too_many(std::string_view reason, const quota_numbers& numbers, time_point now)
{
    auto answer = http::error_response(429, reason);
    answer.set("Retry-After", std::max<std::int64_t>(1, numbers.reset - to_unix_seconds(now)));
    return answer;
}

} // namespace

// One request on its way through the checks, and what they found out.
struct pipeline::exchange
{
    http::request& request;
    boost::asio::ip::address client;
    quota_numbers numbers;
    std::shared_ptr<const accounts::key_owner> owner;
    routes::match target;
    caller who;

    exchange(http::request& received, boost::asio::ip::address address, quota_numbers before,
             time_point now)
        : request(received),
          client(std::move(address)),
          numbers(before)
    {
        who.now = now;
    }
};

pipeline::pipeline(const clock_source& clock, const routes& operations, pipeline_sources sources,
                   std::vector<network> trusted_proxies, answer_memory& memory)
    : clock_(clock),
      operations_(operations),
      sources_(std::move(sources)),
      trusted_proxies_(std::move(trusted_proxies)),
      memory_(memory)
{}

bool pipeline::serves(std::string_view path)
{
    return path == "/v1" || path.starts_with("/v1/");
}

awaitable<http::response> pipeline::answer(http::request& received)
{
    const auto now = clock_.now();
    const auto address = client_address(received, trusted_proxies_);
    exchange x(received, address, failures_.numbers(address, now), now);
    http::response answer;
    try {
        answer = co_await run(x);
    } catch (const dependency_error& problem) {
        answer = answer_unavailable(received, problem.what());
    } catch (const std::exception& problem) {
        answer = answer_broken(received, problem.what());
    }
    set_rate_limit_headers(answer, x.numbers);
    answer.set("Cache-Control", "no-store");
    allow_origin(received, answer);
    co_return answer;
}

awaitable<http::response> pipeline::run(exchange& x)
{
    if (is_preflight(x.request))
        co_return answer_preflight();
    if (auto refused = co_await check_key(x))
        co_return std::move(*refused);
    if (auto refused = check_plan(x))
        co_return std::move(*refused);
    if (auto refused = check_burst(x))
        co_return std::move(*refused);
    if (auto refused = co_await check_quota(x))
        co_return std::move(*refused);
    x.target = operations_.find(x.request);
    if (auto refused = check_request(x.request, x.target))
        co_return std::move(*refused);
    auto answer = co_await call(x);
    const bool is_read = x.target.operation->method == "GET";
    if (is_read)
        answer = count_answer(std::move(answer), x.who.account(), memory_);
    if (!is_read || clock_.now() - x.who.now < longest_without_check)
        co_return answer;
    // What is read after a long time, such as mail waited for, is not given to a key revoked
    // meanwhile.
    x.who.now = clock_.now();
    if (auto refused = co_await check_key(x))
        co_return std::move(*refused);
    if (auto refused = check_plan(x))
        co_return std::move(*refused);
    co_return answer;
}

awaitable<http::response> pipeline::call(exchange& x)
{
    const auto& operation = *x.target.operation;
    if (x.request.method == "POST" && sources_.answer_once && x.request.header("Idempotency-Key"))
        return sources_.answer_once(x.request, x.who, operation);
    return operation.handle(x.request, x.who);
}

awaitable<pipeline::refusal> pipeline::check_key(exchange& x)
{
    const auto key = x.request.header("X-API-Key");
    if (!key)
        co_return refuse_key(x, "Header X-API-Key is missing");
    if (is_given_twice(x.request, "X-API-Key"))
        co_return refuse_key(x, "Header X-API-Key is given more than once");
    if (!accounts::is_well_formed_api_key(*key))
        co_return refuse_key(x, "X-API-Key is not a valid API key");
    const auto allowed =
        failed_lookups_.has_allowance(x.client, x.who.now) ? lookups::all : lookups::seen_good;
    const auto found = co_await sources_.find_key(accounts::api_key_digest(*key), allowed);
    if (!found)
        co_return refuse_lookup(x, found.error());
    x.owner = found->owner;
    if (!x.owner) {
        if (found->was_looked_up)
            failed_lookups_.note(x.client, x.who.now);
        co_return refuse_key(x, "X-API-Key is not a valid API key");
    }
    x.who.state = x.owner->account;
    co_return std::nullopt;
}

// The caller's address pays for the failure: 401 while its allowance lasts, then 429.
http::response pipeline::refuse_key(exchange& x, std::string_view reason)
{
    const auto outcome = failures_.note(x.client, x.who.now);
    x.numbers = outcome.numbers;
    if (outcome.is_within)
        return http::error_response(401, reason);
    return too_many("Too many requests without a valid API key from this address", x.numbers,
                    x.who.now);
}

// Nobody has looked whose key it is: its address had too many looked up that nobody has, or too
// many are looked up at once.
http::response pipeline::refuse_lookup(exchange& x, const failure& reason)
{
    if (reason.code != errc::rate_limited)
        return http::error_response(reason);
    failures_.note(x.client, x.who.now);
    x.numbers = failed_lookups_.numbers(x.client, x.who.now);
    return too_many(reason.message, x.numbers, x.who.now);
}

pipeline::refusal pipeline::check_plan(exchange& x)
{
    const auto& limits = x.who.limits();
    const auto plan = x.who.state.plan_at(x.who.now);
    if (limits.api_access && x.owner->position <= limits.api_keys)
        return std::nullopt;
    x.numbers = quota_numbers(0, 0, next_midnight(x.who.now));
    if (!limits.api_access)
        return http::error_response(403, "API access is not available on the plan " + plan);
    return http::error_response(403, "This API key is inactive: the plan " + plan +
                                         " has room for the " + std::to_string(limits.api_keys) +
                                         " oldest keys of the account");
}

pipeline::refusal pipeline::check_burst(exchange& x)
{
    const auto most = x.who.limits().burst_per_second;
    if (bursts_.take(x.owner->key, most, x.who.now))
        return std::nullopt;
    x.numbers = sources_.last_known_quota(x.who.state);
    auto refused = http::error_response(
        429,
        "More than " + std::to_string(most) +
            " requests in one second with this API key; this one was not counted against the day");
    refused.set("Retry-After", 1);
    return refused;
}

awaitable<pipeline::refusal> pipeline::check_quota(exchange& x)
{
    const auto decision = co_await sources_.take_quota(x.who.state);
    x.numbers = decision.numbers;
    x.who.quota = decision.numbers;
    sources_.note_use(*x.owner, x.who.now);
    if (decision.is_granted)
        co_return std::nullopt;
    co_return too_many("The daily limit of " + std::to_string(x.numbers.limit) +
                           " requests is used up; it resets at " +
                           to_iso8601(time_point{std::chrono::seconds{x.numbers.reset}}),
                       x.numbers, x.who.now);
}

} // namespace tempinbox::gateway
