#include "gateway/api/cors.hpp"

namespace tempinbox::gateway {

bool is_preflight(const http::request& received)
{
    return received.method == "OPTIONS" && received.header("Origin") &&
           received.header("Access-Control-Request-Method");
}

http::response answer_preflight()
{
    http::response answer;
    answer.status = 204;
    answer.set("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE, OPTIONS");
    answer.set("Access-Control-Allow-Headers", "X-API-Key, Content-Type, Accept, Idempotency-Key, "
                                               "If-None-Match, X-Request-Id, traceparent");
    answer.set("Access-Control-Max-Age", "86400");
    return answer;
}

void allow_origin(const http::request& received, http::response& answer)
{
    if (!received.header("Origin"))
        return;
    answer.set("Access-Control-Allow-Origin", "*");
    answer.set(
        "Access-Control-Expose-Headers",
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Location,"
        " Retry-After, Allow, Idempotency-Replayed, ETag, Content-Disposition");
}

} // namespace tempinbox::gateway
