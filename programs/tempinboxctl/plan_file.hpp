#pragma once

#include "common/core/errors.hpp"
#include "tempinboxctl/command.hpp"

#include <string_view>
#include <vector>

namespace tempinbox::ctl {

// The plans of a file as arguments of `plan set`, which knows the names and bounds of the numbers.
// The file has what `plan list --output json` prints, as much of it as is to be set:
// `{"plans":[{"plan":"pro","requestsPerDay":5000}]}`. invalid_argument for anything else.
result<std::vector<arguments>> read_plans(std::string_view json, const command& plan_set);

// Whether a plan, as `plan list` shows it, has these values already.
bool has_values(const record& shown, const arguments& requested);

} // namespace tempinbox::ctl
