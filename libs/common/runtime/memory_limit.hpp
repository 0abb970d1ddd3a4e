#pragma once

#include "common/config/reader.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::runtime {

// The bytes past which the kernel ends the process: the smallest limit of its control group and
// those above it (cgroup v2, v1). Empty where there is none, or none can be read. `root` is where
// /proc and /sys are.
std::optional<std::uint64_t> container_memory_limit(const std::filesystem::path& root = "/");

// A warning if the memory that the settings let a process hold, plus what it needs anyway, exceeds
// the limit.
std::optional<std::string> memory_warning(const std::vector<config::memory_bound>& bounds,
                                          std::optional<std::uint64_t> limit);

} // namespace tempinbox::runtime
