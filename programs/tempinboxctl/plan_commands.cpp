#include "common/core/ascii.hpp"
#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "tempinboxctl/session.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

record to_record(const accounts::plan& shown)
{
    record fields;
    fields.add("plan", shown.name)
        .add("priceAmount", shown.cost.amount)
        .add("pricePeriod", shown.cost.period);
    add_limits(fields, shown.limits, plans::audience::plan);
    return fields;
}

awaitable<result<command_result>> list(session& suite, arguments)
{
    const auto plans = co_await suite.accounts().list_plans();
    std::vector<record> all;
    all.reserve(plans.size());
    for (const auto& one : plans)
        all.push_back(to_record(one));
    co_return command_result("plans", std::move(all));
}

// What the column accepts: numeric(10, 2).
bool is_amount(std::string_view text)
{
    constexpr std::size_t max_digits = 8;
    constexpr std::size_t max_decimals = 2;
    const auto is_number = [](std::string_view digits, std::size_t max) {
        return !digits.empty() && digits.size() <= max &&
               std::all_of(digits.begin(), digits.end(), is_digit);
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

result<std::optional<std::int64_t>> read_limit(const arguments& given, const plans::limit& limit)
{
    if (!limit.is_truth)
        return given.integer(limit.option_name(), limit.min, limit.max);
    const auto truth = given.truth(limit.option_name());
    if (!truth)
        return truth.error();
    return *truth ? std::optional<std::int64_t>(**truth ? 1 : 0) : std::nullopt;
}

result<accounts::plan_change> read_change(const arguments& given)
{
    accounts::plan_change change;
    for (const auto& limit : plans::all_limits()) {
        const auto value = read_limit(given, limit);
        if (!value)
            return value.error();
        if (*value)
            change.limits.emplace(limit.name, **value);
    }
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
    const auto changed = co_await suite.accounts().change_plan(given.at("PLAN"), *change);
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
    for (const auto& limit : plans::all_limits())
        setting.options.emplace_back(limit.option_name(), limit.is_truth ? "BOOL" : "N",
                                     limit.meaning +
                                         std::string(limit.is_truth ? ": true or false" : ""),
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
