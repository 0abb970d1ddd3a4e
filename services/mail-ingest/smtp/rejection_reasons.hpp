#pragma once

#include "mail-ingest/envelope/envelope.hpp"
#include "mailbox/rejection.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::smtp {

// What its inbox's owner reads of a refusal without a reply.
inline constexpr std::string_view no_reply = "The connection was closed without a reply";

// Absent: accepted, or refused for what is no matter of the inbox's owner. `reply` is that of the
// recipient.
std::optional<mailbox::rejection_reason> reason_of(recipient_status status, std::string_view reply);
// By how a message ended.
std::optional<mailbox::rejection_reason> reason_of(std::string_view result);

} // namespace tempinbox::smtp
