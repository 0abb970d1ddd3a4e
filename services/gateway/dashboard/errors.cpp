#include "gateway/dashboard/errors.hpp"

#include "common/json/value.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

struct row
{
    dashboard_error reason;
    std::string_view word;
    unsigned status;
    std::string_view sentence; // empty: the code that refuses says it
};

// In the order of the enum. The first row of a status from invalid_argument on is the one that
// add_error_code takes.
constexpr std::array table{
    row{dashboard_error::no_session, "no_session", 401, "Sign in first: there is no session"},
    row{dashboard_error::session_ended, "session_ended", 401,
        "Sign in again: the session has ended"},
    row{dashboard_error::account_deleted, "account_deleted", 401,
        "Sign in again: the account does not exist any more"},
    row{dashboard_error::wrong_credentials, "wrong_credentials", 401,
        "The email address or the password is wrong"},
    row{dashboard_error::csrf_token_missing, "csrf_token_missing", 403,
        "Header X-CSRF-Token is missing; it must be the token of this session's answer"},
    row{dashboard_error::csrf_token_mismatch, "csrf_token_mismatch", 403,
        "Header X-CSRF-Token is not the token of this session's answer"},
    row{dashboard_error::other_site, "other_site", 403, ""},
    row{dashboard_error::sign_up_closed, "sign_up_closed", 403,
        "Sign-up is closed here: ask the operator for an account"},
    row{dashboard_error::sign_up_without_code, "sign_up_without_code", 403,
        "No codes are sent here: sign-up needs none, or is closed"},
    row{dashboard_error::no_mail_sent, "no_mail_sent", 403,
        "No mail is sent here: ask the operator for a link that sets a new password"},
    row{dashboard_error::wrong_password, "wrong_password", 403, "currentPassword is wrong"},
    row{dashboard_error::wrong_code, "wrong_code", 400,
        "code is wrong or too old: sign up again for a new one"},
    row{dashboard_error::too_many_attempts, "too_many_attempts", 429, ""},
    row{dashboard_error::burst_limit_reached, "burst_limit_reached", 429, ""},
    row{dashboard_error::daily_limit_reached, "daily_limit_reached", 429, ""},

    row{dashboard_error::invalid_argument, "invalid_argument", 400, ""},
    row{dashboard_error::unauthenticated, "unauthenticated", 401, ""},
    row{dashboard_error::permission_denied, "permission_denied", 403, ""},
    row{dashboard_error::not_found, "not_found", 404, ""},
    row{dashboard_error::method_not_allowed, "method_not_allowed", 405, ""},
    row{dashboard_error::not_acceptable, "not_acceptable", 406, ""},
    row{dashboard_error::conflict, "conflict", 409, ""},
    row{dashboard_error::payload_too_large, "payload_too_large", 413, ""},
    row{dashboard_error::unsupported_media_type, "unsupported_media_type", 415, ""},
    row{dashboard_error::unprocessable, "unprocessable", 422, ""},
    row{dashboard_error::rate_limited, "rate_limited", 429, ""},
    row{dashboard_error::internal, "internal", 500, ""},
    row{dashboard_error::unavailable, "unavailable", 503, ""},
    row{dashboard_error::deadline_exceeded, "deadline_exceeded", 504, ""},
};
constexpr auto first_of_status = static_cast<std::size_t>(dashboard_error::invalid_argument);

constexpr bool is_in_order()
{
    for (std::size_t i = 0; i < table.size(); ++i)
        if (static_cast<std::size_t>(table[i].reason) != i)
            return false;
    return table.back().reason == dashboard_error::deadline_exceeded;
}
static_assert(is_in_order(), "a row is missing, or not in the order of the enum");

const row& row_of(dashboard_error reason)
{
    return table[static_cast<std::size_t>(reason)];
}

// A status that no row has is one of the server's own failures.
std::string_view word_of_status(unsigned status)
{
    const auto found =
        std::find_if(table.begin() + first_of_status, table.end(),
                     [status](const row& candidate) { return candidate.status == status; });
    return found == table.end() ? row_of(dashboard_error::internal).word : found->word;
}

void append_code(http::response& response, std::string_view word)
{
    response.body.pop_back(); // the closing brace of the error body
    response.body.append(",\"code\":\"").append(word).append("\"}");
}

} // namespace

std::string_view to_string(dashboard_error reason)
{
    return row_of(reason).word;
}

http::response error_response(dashboard_error reason)
{
    return error_response(reason, row_of(reason).sentence);
}

http::response error_response(dashboard_error reason, std::string_view message)
{
    auto response = http::error_response(row_of(reason).status, message);
    append_code(response, row_of(reason).word);
    return response;
}

void add_error_code(http::response& response)
{
    if (response.status < 400)
        return;
    const auto body = json::value::parse(response.body);
    if (body && body->is_object() && !body->find("code"))
        append_code(response, word_of_status(response.status));
}

} // namespace tempinbox::gateway
