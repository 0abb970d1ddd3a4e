#include "tempinboxctl/plan_file.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/json/value.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

// `requestsPerDay` is the option `requests-per-day`.
std::string option_name(std::string_view field)
{
    std::string name;
    for (const char c : field) {
        if (is_upper(c))
            name += '-';
        name += to_lower(c);
    }
    return name;
}

bool is_option(const command& plan_set, const std::string& name)
{
    return std::any_of(plan_set.options.begin(), plan_set.options.end(),
                       [&](const option& known) { return known.name == name; });
}

result<arguments> read_plan(const json::value& plan, const command& plan_set)
{
    const auto name = plan.find("plan");
    if (!name || !name->is_string())
        return failure{errc::invalid_argument, "each plan must have its name as \"plan\""};
    arguments read;
    read.positionals.emplace("PLAN", name->text());
    for (const auto& [field, value] : plan.members()) {
        if (field == "plan")
            continue;
        const auto known = option_name(field);
        if (!is_option(plan_set, known))
            return failure{errc::invalid_argument,
                           "plan " + quote(name->text()) + " has no " + quote(field)};
        if (!value.is_string() && !value.is_number() && !value.is_bool())
            return failure{errc::invalid_argument, "plan " + quote(name->text()) + ": " + field +
                                                       " must be a value, not " +
                                                       std::string(value.kind())};
        read.options[known] = {value.is_string() ? value.text() : value.to_string()};
    }
    return read;
}

struct field_text
{
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    template <class T>
    std::string operator()(const T&) const
    {
        return {};
    }
};

} // namespace

result<std::vector<arguments>> read_plans(std::string_view json, const command& plan_set)
{
    const auto file = json::value::parse(json);
    if (!file)
        return file.error();
    const auto plans = file->find("plans");
    if (!plans || !plans->is_array())
        return failure{errc::invalid_argument, "the file must have \"plans\", an array"};
    std::vector<arguments> all;
    for (const auto& plan : plans->items()) {
        if (!plan.is_object())
            return failure{errc::invalid_argument, "each plan must be an object"};
        auto read = read_plan(plan, plan_set);
        if (!read)
            return read.error();
        all.push_back(std::move(*read));
    }
    return all;
}

bool has_values(const record& shown, const arguments& requested)
{
    std::size_t equal = 0;
    for (const auto& [field, value] : shown.fields())
        if (requested.value(option_name(field)) == std::visit(field_text(), value))
            ++equal;
    return equal == requested.options.size();
}

} // namespace tempinbox::ctl
