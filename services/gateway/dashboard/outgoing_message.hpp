#pragma once

#include "common/mail/outgoing_message.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

using mail::can_be_mailed;
using mail::outgoing_message;

// The messages that the gateway itself sends.
outgoing_message sign_up_code_message(std::string address, std::string_view code);
outgoing_message account_exists_message(std::string address, const std::string& dashboard_url);
outgoing_message password_link_message(std::string address, const std::string& dashboard_url,
                                       const std::string& token);
// The message has the URL without its query, which may hold secrets.
outgoing_message webhook_disabled_message(std::string address, const std::string& dashboard_url,
                                          std::string_view webhook_url,
                                          const std::string& webhook_id, const std::string& reason);
outgoing_message inbox_ends_message(std::string address, const std::string& dashboard_url,
                                    const inbox::v1::EndNotice& notice);

} // namespace tempinbox::gateway
