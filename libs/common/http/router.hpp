#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::http {

// Routes paths to handlers: `/v1/inboxes/{inboxId}/emails`. Literal segments win over parameters.
// Responds with 404 and the path, or 405 with Allow (HEAD where GET is, OPTIONS always). HEAD runs
// the GET handler; the server leaves the body out.
class router
{
public:
    void add(std::string_view method, std::string_view pattern, handler handle);

    // What would handle a request, so that checks can sit between look-up and call.
    struct match
    {
        const handler* handle = nullptr; // null: no such path, or not with this method
        std::string allow;               // not empty: the path is known, these methods are allowed
        std::string_view pattern;        // of the matched route, for metrics
        std::vector<std::pair<std::string, std::string>> params;
    };
    // `path` is the path as sent, without the query; segments are decoded one by one. A segment
    // that cannot be decoded stays as it is.
    match find(std::string_view method, std::string_view path) const;
    match find(const request& received) const { return find(received.method, received.raw_path()); }

    // Finds the route, fills in path parameters and route, then calls the handler or responds with
    // 404, 405, or 400 for a target that cannot be decoded.
    awaitable<response> dispatch(request& received) const;

private:
    struct route
    {
        std::string method;
        std::string pattern;
        std::vector<std::string> segments;
        handler handle;
    };
    std::vector<route> routes_;
};

// For a match without a handler: 404, 405 with Allow, or 204 with Allow for OPTIONS.
response not_routed(const router::match& match, const request& received);

} // namespace tempinbox::http
