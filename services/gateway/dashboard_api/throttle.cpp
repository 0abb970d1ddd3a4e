#include "gateway/dashboard_api/throttle.hpp"

#include "common/core/text.hpp"

namespace tempinbox::gateway {
namespace {

// In ten minutes.
constexpr int most_failures_of_account = 10;
constexpr int most_failures_of_address = 20;
constexpr int most_accounts_of_address = 100;
constexpr int most_letters = 5;

} // namespace

accounts::attempt_subject sign_ins_of_account(const std::string& email)
{
    return accounts::attempt_subject("sign-in account", to_lower_ascii(email),
                                     most_failures_of_account);
}

accounts::attempt_subject sign_ins_of_address(const std::string& address)
{
    return accounts::attempt_subject("sign-in address", address, most_failures_of_address);
}

accounts::attempt_subject taken_addresses_of(const std::string& address)
{
    return accounts::attempt_subject("sign-up address", address, most_failures_of_address);
}

accounts::attempt_subject accounts_of_address(const std::string& address)
{
    return accounts::attempt_subject("accounts of address", address, most_accounts_of_address);
}

accounts::attempt_subject resets_of_address(const std::string& address)
{
    return accounts::attempt_subject("password reset address", address, most_failures_of_address);
}

accounts::attempt_subject letters_to(const std::string& email)
{
    return accounts::attempt_subject("letters", to_lower_ascii(email), most_letters);
}

http::response too_many_attempts(const accounts::attempt_verdict& verdict)
{
    const auto seconds = verdict.retry_after.count();
    auto refused = http::error_response(429, "Too many attempts: try again in " +
                                                 std::to_string(seconds) + " s");
    refused.set("Retry-After", seconds);
    return refused;
}

} // namespace tempinbox::gateway
