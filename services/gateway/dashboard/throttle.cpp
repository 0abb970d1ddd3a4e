#include "gateway/dashboard/throttle.hpp"

#include "common/core/text.hpp"
#include "gateway/dashboard/errors.hpp"

namespace tempinbox::gateway {
namespace {

// Each in ten minutes.
constexpr int max_failures_per_account = 10;
constexpr int max_failures_per_address = 20;
constexpr int max_accounts_per_address = 100;
constexpr int max_emails = 5;

} // namespace

accounts::attempt_subject sign_ins_of_account(const std::string& email)
{
    return accounts::attempt_subject("sign-in account", to_lower_ascii(email),
                                     max_failures_per_account);
}

accounts::attempt_subject sign_ins_of_address(const std::string& address)
{
    return accounts::attempt_subject("sign-in address", address, max_failures_per_address);
}

accounts::attempt_subject taken_addresses_of(const std::string& address)
{
    return accounts::attempt_subject("sign-up address", address, max_failures_per_address);
}

accounts::attempt_subject accounts_of_address(const std::string& address)
{
    return accounts::attempt_subject("accounts of address", address, max_accounts_per_address);
}

accounts::attempt_subject resets_of_address(const std::string& address)
{
    return accounts::attempt_subject("password reset address", address, max_failures_per_address);
}

accounts::attempt_subject emails_to(const std::string& email)
{
    return accounts::attempt_subject("letters", to_lower_ascii(email), max_emails);
}

http::response too_many_attempts(const accounts::attempt_status& status)
{
    const auto seconds = status.retry_after.count();
    auto refused =
        error_response(dashboard_error::too_many_attempts,
                       "Too many attempts: try again in " + std::to_string(seconds) + " s");
    refused.set("Retry-After", seconds);
    return refused;
}

} // namespace tempinbox::gateway
