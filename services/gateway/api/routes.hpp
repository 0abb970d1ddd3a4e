#pragma once

#include "common/http/router.hpp"
#include "gateway/api/caller.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// merge_patch: JSON too, by either of its media types (RFC 7396).
enum class body_kind { none, json, merge_patch };

// An operation of the API: how it is called, and its handler.
struct route
{
    std::string method;
    std::string pattern;
    body_kind body = body_kind::none;
    api_handler handle;
    // For a POST: makes the checks that give 400 without the effect, so that 400 comes before the
    // 422 of an Idempotency-Key. May be empty.
    api_handler check;
    // The body holds a password. No digest of it is stored, so an Idempotency-Key has no effect.
    bool holds_password = false;

    route(std::string verb, std::string path, body_kind takes, api_handler handler,
          api_handler check_only = {})
        : method(std::move(verb)),
          pattern(std::move(path)),
          body(takes),
          handle(std::move(handler)),
          check(std::move(check_only))
    {}
};

// The operations of the API by method and path.
class routes
{
public:
    explicit routes(std::vector<route> operations);
    routes(const routes&) = delete;

    struct match
    {
        const route* operation = nullptr; // null: no such path or method
        http::router::match path;
    };
    // HEAD finds the route of GET.
    match find(const http::request& received) const;

private:
    std::vector<route> operations_;
    std::map<std::string, const route*, std::less<>> by_name_;
    http::router router_;
};

} // namespace tempinbox::gateway
