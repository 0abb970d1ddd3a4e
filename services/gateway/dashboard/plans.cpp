#include "gateway/dashboard/plans.hpp"

#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"

namespace tempinbox::gateway {

// GET /dashboard/api/plans
awaitable<http::response> list_plans(const http::request& received,
                                     accounts::account_repository& accounts)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    const auto all = co_await accounts.list_plans();
    co_return http::ok_json(to_json(all));
}

} // namespace tempinbox::gateway
