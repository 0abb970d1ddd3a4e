#include "gateway/pipeline/response_budget.hpp"

#include <utility>

namespace tempinbox::gateway {

// A reservation of both budgets. An account without reservations is erased.
struct response_budget::account_reservation
{
    std::shared_ptr<account_budgets> all_budgets;
    account_id account;
    reservation of_account;
    reservation of_all;

    account_reservation(std::shared_ptr<account_budgets> accounts, account_id whose)
        : all_budgets(std::move(accounts)),
          account(whose)
    {}
    account_reservation(const account_reservation&) = delete;
    ~account_reservation()
    {
        of_account.reset();
        const auto found = all_budgets->find(account);
        if (found != all_budgets->end() && found->second.used() == 0)
            all_budgets->erase(found);
    }
};

response_budget::reservation response_budget::try_reserve(account_id account, std::size_t bytes)
{
    const auto both = std::make_shared<account_reservation>(account_budgets_, account);
    both->of_account =
        account_budgets_->try_emplace(account, max_per_account_).first->second.try_reserve(bytes);
    if (both->of_account)
        both->of_all = all_.try_reserve(bytes);
    if (!both->of_all)
        return nullptr;
    return both;
}

http::response reserve_response(http::response response, account_id account,
                                response_budget& memory)
{
    if (response.reservation || response.body.size() <= small_response)
        return response;
    response.reservation = memory.try_reserve(account, response.body.size());
    if (!response.reservation)
        return out_of_memory_response();
    return response;
}

http::response out_of_memory_response()
{
    return http::error_response(out_of_memory_failure());
}

failure out_of_memory_failure()
{
    return failure{errc::unavailable, "Too many large answers are under way; try again",
                   error_reason::busy};
}

} // namespace tempinbox::gateway
