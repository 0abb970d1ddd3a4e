#pragma once

#include "common/core/time.hpp"
#include "common/plans/plan_limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tempinbox::ctl {

// Part of a command's result: named fields in order, shown as JSON or as text. Names are those of
// the API.
class record
{
public:
    using field = std::variant<std::monostate, std::string, std::int64_t, bool,
                               std::vector<std::string>, std::vector<record>>;

    record& add(std::string_view name, field value)
    {
        fields_.emplace_back(std::string(name), std::move(value));
        return *this;
    }
    record& add_time(std::string_view name, const std::optional<time_point>& time)
    {
        return add(name, time ? field(to_iso8601(*time)) : field());
    }
    const std::vector<std::pair<std::string, field>>& fields() const { return fields_; }

private:
    std::vector<std::pair<std::string, field>> fields_;
};

// Adds the limits of a plan that the audience is shown.
void add_limits(record& fields, const plans::plan_limits& limits, plans::audience audience);

// One record, or a list under its name.
struct command_result
{
    std::string list_name; // empty: one record
    std::vector<record> records;
    bool is_failure = false;         // shown, and the exit code is 1
    std::optional<std::string> text; // instead of the lines or the table that to_text() makes

    command_result() = default;
    explicit command_result(record one) : records{std::move(one)} {}
    command_result(std::string name, std::vector<record> many)
        : list_name(std::move(name)),
          records(std::move(many))
    {}
};

// `{"keyId":…}` or `{"keys":[…]}`, one line.
std::string to_json(const command_result& shown);
// A record as aligned lines, a list as an aligned table with headings; "-" for an empty field.
// Or the result's own text.
std::string to_text(const command_result& shown);

} // namespace tempinbox::ctl
