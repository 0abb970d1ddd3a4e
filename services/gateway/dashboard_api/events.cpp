#include "gateway/dashboard_api/events.hpp"

#include "gateway/api/query_reader.hpp"

namespace tempinbox::gateway {

// GET /dashboard/api/events
awaitable<http::response> stream_events(const http::request& received, const caller& who,
                                        mail_feed& feed, const session_opener& opener)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    const auto token = opener.cookie_of(received).find(received);
    if (!token)
        co_return http::error_response(401, "Sign in first: there is no session");

    auto source = feed.open(who.account(), accounts::session_digest(token->reveal()));
    if (!source)
        co_return http::error_response(source.error());

    http::response answer(200, "text/event-stream", "");
    answer.set("X-Accel-Buffering", "no"); // nginx would gather pieces
    answer.source = std::move(*source);
    co_return answer;
}

} // namespace tempinbox::gateway
