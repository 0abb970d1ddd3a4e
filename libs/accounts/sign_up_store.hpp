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

// Addresses that asked for an account and were mailed a code, which stands here as a digest with
// its address. Throws when PostgreSQL cannot be reached.
class sign_up_store
{
public:
    static constexpr std::chrono::minutes lifetime{15};
    static constexpr int max_wrong_codes = 5;

    explicit sign_up_store(postgres::pool& db);

    // A new code replaces an address's older one.
    awaitable<void> put(std::string_view email, std::string_view code);
    // Whether it is the address's code, which is used up then; a wrong one is counted.
    awaitable<bool> take(std::string_view email, std::string_view code);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
