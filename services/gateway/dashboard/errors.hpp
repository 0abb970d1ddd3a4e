#pragma once

#include "common/http/message.hpp"

#include <string_view>

namespace tempinbox::gateway {

// Why the dashboard's API refuses a request. The page tells errors apart by the word of each, the
// `code` of the body, which never changes; its sentence is for people. These are the
// reasons of this API alone; what it shares with /v1 has the words of /v1 (error_reason).
enum class dashboard_error {
    no_session,
    session_ended,
    account_deleted,
    wrong_credentials,
    csrf_token_missing,
    csrf_token_mismatch,
    sign_up_closed,
    sign_up_without_code,
    no_mail_sent,
    wrong_password,
    wrong_code,
    too_many_attempts
};

// The word that `code` has.
std::string_view to_string(dashboard_error reason);

// {"statusCode":403,"error":"Forbidden","message":"…","code":"csrf_token_missing"}, with the
// sentence of the table, or with one that says more.
http::response error_response(dashboard_error reason);
http::response error_response(dashboard_error reason, std::string_view message);

// Gives an error without a `code` the word of its X-Error-Code. Other responses stay as they are.
void add_error_code(http::response& response);

} // namespace tempinbox::gateway
