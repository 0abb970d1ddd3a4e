#include "gateway/dashboard/errors.hpp"

#include "common/json/value.hpp"

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

// In the order of the enum.
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
};

constexpr bool is_in_order()
{
    for (std::size_t i = 0; i < table.size(); ++i)
        if (static_cast<std::size_t>(table[i].reason) != i)
            return false;
    return table.back().reason == dashboard_error::too_many_attempts;
}
static_assert(is_in_order(), "a row is missing, or not in the order of the enum");

const row& row_of(dashboard_error reason)
{
    return table[static_cast<std::size_t>(reason)];
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
    response.set(http::error_code_header, row_of(reason).word);
    append_code(response, row_of(reason).word);
    return response;
}

void add_error_code(http::response& response)
{
    const auto word = http::find_header(response.headers, http::error_code_header);
    if (!word)
        return;
    const auto body = json::value::parse(response.body);
    if (body && body->is_object() && !body->find("code"))
        append_code(response, std::string(*word));
}

} // namespace tempinbox::gateway
