#pragma once

#include "common/json/object_reader.hpp"

#include "tempinbox/inbox/v1/faults.pb.h"

namespace tempinbox::gateway {

// Reads `steps` of a body; errors are left to its reader.
inbox::v1::FaultSteps read_fault_steps(json::object_reader& body);

} // namespace tempinbox::gateway
