#include "gateway/quota/rate_limit_headers.hpp"

namespace tempinbox::gateway {

void set_rate_limit_headers(http::response& answer, const quota_numbers& numbers)
{
    answer.set("X-RateLimit-Limit", numbers.limit);
    answer.set("X-RateLimit-Remaining", numbers.remaining);
    answer.set("X-RateLimit-Reset", numbers.reset);
}

void complete_answer_without_account(http::response& answer, time_point now)
{
    set_rate_limit_headers(answer, quota_numbers(0, 0, next_midnight(now)));
    answer.set("Cache-Control", "no-store");
}

} // namespace tempinbox::gateway
