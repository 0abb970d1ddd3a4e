#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/secret.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace tempinbox::accounts {

// Eight digits.
secret make_sign_up_code();

// Email addresses that asked for an account and were sent a code, stored as a digest of address and
// code. Throws when PostgreSQL cannot be reached.
class sign_up_store
{
public:
    static constexpr std::chrono::minutes lifetime{15};
    static constexpr int max_wrong_codes = 5;

    explicit sign_up_store(postgres::pool& db);

    // A new code replaces an address's older one.
    awaitable<void> put(std::string_view email, std::string_view code);
    // Whether the code is the address's; if so it is used up, otherwise the wrong guess is counted.
    awaitable<bool> take(std::string_view email, std::string_view code);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
