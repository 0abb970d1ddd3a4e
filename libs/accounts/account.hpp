#pragma once

#include "common/core/time.hpp"
#include "common/plans/account_state.hpp"

#include <string>
#include <string_view>

namespace tempinbox::accounts {

struct account
{
    std::string email;
    time_point created_at;
    plans::account_state state;

    account_id id() const { return state.account; }
};

// Local part, one @, a domain; no blanks or control characters; at most 254 bytes.
result<void> check_email_address(std::string_view email);

// not_found
failure no_such_account(account_id id);

} // namespace tempinbox::accounts
