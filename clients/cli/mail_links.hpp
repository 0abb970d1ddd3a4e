#pragma once

#include "common/json/value.hpp"

#include <optional>
#include <string>

namespace tempinbox::cli {

// The link of an email that is of the kind. Without a kind the one that a sign-up test follows: to
// verify, else to reset, else another, but never one to unsubscribe.
std::optional<json::value> choose_link(const json::value& email,
                                       const std::optional<std::string>& kind);

} // namespace tempinbox::cli
