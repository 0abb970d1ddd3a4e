#include "gateway/pipeline/cors.hpp"

namespace tempinbox::gateway {

bool is_preflight(const http::request& received)
{
    return received.method == "OPTIONS" && received.header("Origin") &&
           received.header("Access-Control-Request-Method");
}

http::response preflight_response()
{
    http::response response;
    response.status = 204;
    response.set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    response.set("Access-Control-Allow-Headers",
                 "X-API-Key, Authorization, Content-Type, Accept, "
                 "Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-Id, "
                 "traceparent");
    response.set("Access-Control-Max-Age", "86400");
    return response;
}

void allow_origin(const http::request& received, http::response& response)
{
    if (!received.header("Origin"))
        return;
    response.set("Access-Control-Allow-Origin", "*");
    response.set(
        "Access-Control-Expose-Headers",
        "X-Error-Code, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, "
        "RateLimit-Policy, X-Request-Id, WWW-Authenticate, Location, Retry-After, Allow, "
        "Accept-Patch, Idempotency-Replayed, ETag, Content-Disposition, Deprecation, Sunset, "
        "X-Resume-After, X-Missed-Events");
}

} // namespace tempinbox::gateway
