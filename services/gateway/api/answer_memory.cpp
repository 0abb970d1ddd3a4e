#include "gateway/api/answer_memory.hpp"

#include <utility>

namespace tempinbox::gateway {

// What was taken of both. An account that holds nothing more is forgotten.
struct answer_memory::taken
{
    std::shared_ptr<shares> all_shares;
    account_id account;
    reservation of_account;
    reservation of_all;

    taken(std::shared_ptr<shares> accounts, account_id whose)
        : all_shares(std::move(accounts)),
          account(whose)
    {}
    taken(const taken&) = delete;
    ~taken()
    {
        of_account.reset();
        const auto found = all_shares->find(account);
        if (found != all_shares->end() && found->second.used() == 0)
            all_shares->erase(found);
    }
};

answer_memory::reservation answer_memory::try_reserve(account_id account, std::size_t bytes)
{
    const auto both = std::make_shared<taken>(shares_, account);
    both->of_account = shares_->try_emplace(account, most_of_one_).first->second.try_reserve(bytes);
    if (both->of_account)
        both->of_all = all_.try_reserve(bytes);
    if (!both->of_all)
        return nullptr;
    return both;
}

http::response count_answer(http::response answer, account_id account, answer_memory& memory)
{
    if (answer.reservation || answer.body.size() <= small_answer)
        return answer;
    answer.reservation = memory.try_reserve(account, answer.body.size());
    if (!answer.reservation)
        return no_room();
    return answer;
}

http::response no_room()
{
    return http::error_response(no_room_for_answer());
}

failure no_room_for_answer()
{
    return failure{errc::unavailable, "Too many large answers are under way; try again"};
}

} // namespace tempinbox::gateway
