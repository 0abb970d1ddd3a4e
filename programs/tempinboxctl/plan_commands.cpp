#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "tempinboxctl/session.hpp"

#include <algorithm>
#include <limits>

namespace tempinbox::ctl {
namespace {

record to_record(const accounts::plan& shown)
{
    const auto& limits = shown.limits;
    record fields;
    fields.add("plan", shown.name)
        .add("priceAmount", shown.cost.amount)
        .add("pricePeriod", shown.cost.period);
    fields.add("apiAccess", limits.api_access).add("requestsPerDay", limits.requests_per_day);
    fields.add("burstPerSecond", std::int64_t{limits.burst_per_second})
        .add("liveInboxes", std::int64_t{limits.live_inboxes});
    fields.add("defaultTtlSeconds", std::int64_t{limits.default_ttl.count()})
        .add("maxTtlSeconds", std::int64_t{limits.max_ttl.count()});
    fields.add("maxMessageBytes", limits.max_message_bytes)
        .add("webhooks", std::int64_t{limits.webhooks});
    fields.add("apiKeys", std::int64_t{limits.api_keys})
        .add("routingRules", std::int64_t{limits.routing_rules});
    return fields;
}

awaitable<result<command_result>> list(session& suite, arguments)
{
    const auto plans = co_await suite.plans().list();
    std::vector<record> all;
    all.reserve(plans.size());
    for (const auto& one : plans)
        all.push_back(to_record(one));
    co_return command_result("plans", std::move(all));
}

// A number of a plan: its option, its field, and its bounds.
struct number
{
    const char* option_name;
    const char* meaning;
    std::optional<std::int64_t> accounts::plan_change::* target;
    std::int64_t min;
    std::int64_t max;
};

constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t year_seconds = 366LL * 86'400;
// The same bound as in mail-ingest: a message that is read back must fit into one response between
// services (rpc::client: 64 MiB).
constexpr std::int64_t max_message_size = 60LL << 20;
constexpr number numbers[] = {
    {"requests-per-day", "requests a day; 0: unlimited", &accounts::plan_change::requests_per_day,
     0, 1'000'000'000'000},
    {"burst-per-second", "requests a second; 0: unlimited",
     &accounts::plan_change::burst_per_second, 0, int_max},
    {"live-inboxes", "live inboxes at a time", &accounts::plan_change::live_inboxes, 0, int_max},
    {"default-ttl-seconds", "lifetime of an inbox created without one",
     &accounts::plan_change::default_ttl_seconds, 60, year_seconds},
    {"max-ttl-seconds", "maximum lifetime of an inbox", &accounts::plan_change::max_ttl_seconds, 60,
     year_seconds},
    {"max-message-bytes", "maximum message size", &accounts::plan_change::max_message_bytes, 1'024,
     max_message_size},
    {"webhooks", "webhook endpoints", &accounts::plan_change::webhooks, 0, 10'000},
    {"api-keys", "active API keys", &accounts::plan_change::api_keys, 0, 10'000},
    {"routing-rules", "active routing rules", &accounts::plan_change::routing_rules, 0, 10'000},
};

// What the column accepts: numeric(10, 2).
bool is_amount(std::string_view text)
{
    constexpr std::size_t max_digits = 8;
    constexpr std::size_t max_decimals = 2;
    const auto is_number = [](std::string_view digits, std::size_t max) {
        return !digits.empty() && digits.size() <= max &&
               std::all_of(digits.begin(), digits.end(),
                           [](char c) { return c >= '0' && c <= '9'; });
    };
    const auto dot = text.find('.');
    return is_number(text.substr(0, dot), max_digits) &&
           (dot == std::string_view::npos || is_number(text.substr(dot + 1), max_decimals));
}

result<void> read_price(const arguments& given, accounts::plan_change& change)
{
    change.price_amount = given.value("price-amount");
    change.price_period = given.value("price-period");
    if (change.price_amount && !is_amount(*change.price_amount))
        return failure{errc::invalid_argument, "--price-amount must be a number of at most 8 "
                                               "digits and 2 decimals, such as 29 or 4.99, not " +
                                                   quote(*change.price_amount)};
    const auto& period = change.price_period;
    if (period && *period != "none" && *period != "once" && *period != "month")
        return failure{errc::invalid_argument,
                       "--price-period must be none, once or month, not " + quote(*period)};
    return {};
}

result<accounts::plan_change> read_change(const arguments& given)
{
    accounts::plan_change change;
    for (const auto& known : numbers) {
        const auto value = given.integer(known.option_name, known.min, known.max);
        if (!value)
            return value.error();
        change.*known.target = *value;
    }
    const auto api_access = given.truth("api-access");
    if (!api_access)
        return api_access.error();
    change.api_access = *api_access;
    if (const auto price = read_price(given, change); !price)
        return price.error();
    if (given.options.empty())
        return failure{errc::invalid_argument,
                       "name at least one number to change, such as --requests-per-day 5000"};
    return change;
}

awaitable<result<command_result>> set(session& suite, arguments given)
{
    const auto change = read_change(given);
    if (!change)
        co_return change.error();
    const auto changed = co_await suite.plans().set(given.at("PLAN"), *change);
    if (!changed)
        co_return changed.error();
    co_return command_result(to_record(*changed));
}

} // namespace

std::vector<command> plan_commands()
{
    std::vector<command> commands;
    auto& listing = commands.emplace_back("plan list", "Lists the plans, their prices and numbers");
    listing.run = list;

    auto& setting = commands.emplace_back(
        "plan set",
        "Changes numbers of a plan for all its accounts, in force everywhere within 1 s");
    setting.positionals.emplace_back("PLAN", "name of the plan");
    for (const auto& known : numbers)
        setting.options.emplace_back(known.option_name, "N", known.meaning, option::kind::optional);
    setting.options.emplace_back("api-access", "BOOL",
                                 "whether API keys give access to the API: true or false",
                                 option::kind::optional);
    setting.options.emplace_back("price-amount", "AMOUNT",
                                 "what it costs, in your currency, such as 29 or 4.99",
                                 option::kind::optional);
    setting.options.emplace_back("price-period", "PERIOD",
                                 "what that pays for: none, once or month", option::kind::optional);
    setting.run = set;
    return commands;
}

} // namespace tempinbox::ctl
