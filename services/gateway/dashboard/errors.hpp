#pragma once

#include "common/http/message.hpp"

#include <string_view>

namespace tempinbox::gateway {

// Why the dashboard's API refuses a request. The page tells errors apart by the word of each, the
// `code` of the body, which never changes; its sentence is for people. The first group are reasons
// of this API alone; a response of an operation shared with /v1 gets the word of its status.
enum class dashboard_error {
    no_session,
    session_ended,
    account_deleted,
    wrong_credentials,
    csrf_token_missing,
    csrf_token_mismatch,
    other_site,
    sign_up_closed,
    sign_up_without_code,
    no_mail_sent,
    wrong_password,
    wrong_code,
    too_many_attempts,
    burst_limit_reached,
    daily_limit_reached,

    invalid_argument,
    unauthenticated,
    permission_denied,
    not_found,
    method_not_allowed,
    not_acceptable,
    conflict,
    payload_too_large,
    unsupported_media_type,
    unprocessable,
    rate_limited,
    internal,
    unavailable,
    deadline_exceeded
};

// The word that `code` has.
std::string_view to_string(dashboard_error reason);

// {"statusCode":403,"error":"Forbidden","message":"…","code":"csrf_token_missing"}, with the
// sentence of the table, or with one that says more.
http::response error_response(dashboard_error reason);
http::response error_response(dashboard_error reason, std::string_view message);

// Gives an error without a `code` the one of its status. Other responses stay as they are.
void add_error_code(http::response& response);

} // namespace tempinbox::gateway
