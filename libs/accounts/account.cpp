#include "accounts/account.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::accounts {

result<void> check_email_address(std::string_view email)
{
    const auto at = email.find('@');
    const bool has_parts = at != std::string_view::npos && at > 0 && at + 1 < email.size() &&
                           email.find('@', at + 1) == std::string_view::npos;
    const bool is_clean =
        is_valid_utf8(email) && std::none_of(email.begin(), email.end(), [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte <= 0x20 || byte == 0x7f;
        });
    if (has_parts && is_clean && email.size() <= 254)
        return {};
    return failure{errc::invalid_argument,
                   "email must be an address such as name@example.com, not " + quote(email)};
}

failure no_such_account(account_id id)
{
    return failure{errc::not_found, "Account " + id.text() + " does not exist"};
}

} // namespace tempinbox::accounts
