#include "gateway/dashboard/events.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/pipeline/query_reader.hpp"

namespace tempinbox::gateway {

// GET /dashboard/api/events
awaitable<http::response> stream_events(const http::request& received, const caller& who,
                                        event_stream& stream, const session_issuer& issuer)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    const auto token = issuer.cookie_of(received).find(received);
    if (!token)
        co_return error_response(dashboard_error::no_session);

    auto source = stream.open(who.account(), accounts::session_digest(token->reveal()));
    if (!source)
        co_return http::error_response(source.error());

    http::response response(200, "text/event-stream", "");
    response.set("X-Accel-Buffering", "no"); // nginx would buffer events
    response.source = std::move(*source);
    co_return response;
}

} // namespace tempinbox::gateway
