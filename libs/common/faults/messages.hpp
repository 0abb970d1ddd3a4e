#pragma once

#include "common/core/errors.hpp"
#include "common/faults/step.hpp"

#include "tempinbox/inbox/v1/faults.pb.h"

#include <vector>

namespace tempinbox::faults {

inbox::v1::FaultSteps to_proto(const std::vector<step>& steps);
// Fails on what `check` refuses.
result<std::vector<step>> from_proto(const inbox::v1::FaultSteps& message);

} // namespace tempinbox::faults
