#pragma once

// Catch2 3 (Debian 13) under the name that its one header has in Catch2 2 (Debian 12), with that
// version's names: this is all that differs for tests.
#include <catch2/catch_all.hpp>

#include <string>

using Catch::Approx;

namespace Catch {

using Matchers::EndsWith;
using Matchers::StartsWith;
using Matchers::VectorContains;

inline auto Contains(const std::string& part)
{
    return Matchers::ContainsSubstring(part);
}

} // namespace Catch
