#pragma once

#include "common/core/network.hpp"
#include "common/http/router.hpp"
#include "gateway/routes/caller.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// What a check says: the response to a request that it refuses, absent for one that passes.
using refusal = std::optional<http::response>;

// What a path asks of a request before its key.
using entry_check = refusal (*)(const http::request& received,
                                const std::vector<network>& trusted_proxies);

// merge_patch: JSON too, by either of its media types (RFC 7396).
enum class body_kind { none, json, merge_patch };

// The scope that an API key needs for an operation.
class required_scope
{
public:
    // Any scope will do.
    static required_scope any() { return required_scope(kind::any); }
    // The operation is for sessions: no key that is restricted to scopes may call it.
    static required_scope none_suffices() { return required_scope(kind::none_suffices); }
    required_scope(accounts::scope needed) : needed_(needed) {}

    bool is_met(const accounts::key_access& access) const
    {
        if (needed_)
            return access.allowed().has(*needed_);
        return kind_ == kind::any || !access.is_restricted();
    }
    const std::optional<accounts::scope>& needed() const { return needed_; }

private:
    enum class kind { one, any, none_suffices };
    explicit required_scope(kind chosen) : kind_(chosen) {}

    kind kind_ = kind::one;
    std::optional<accounts::scope> needed_;
};

// An operation of the API: how it is called, what a key needs for it, and its handler.
struct route
{
    std::string method;
    std::string pattern;
    required_scope scope;
    body_kind body = body_kind::none;
    api_handler handle;
    // For a POST: makes the checks that give 400 without the effect, so that 400 comes before the
    // 422 of an Idempotency-Key. May be empty.
    api_handler check;
    // The body holds a password. No digest of it is stored, so an Idempotency-Key has no effect.
    bool holds_password = false;
    // It is made of other operations, which it calls by caller::call. Their own requests have the
    // Idempotency-Key, not this one.
    bool calls_others = false;
    // Its response may be a stream, which asks caller::is_still_good now and then.
    bool lasts = false;
    // Of a path that pages of other sites may not call. Null: they may, so preflights are answered
    // and browsers may read the responses (CORS).
    entry_check entry = nullptr;

    route(std::string verb, std::string path, required_scope needs, body_kind takes,
          api_handler handler, api_handler check_only = {})
        : method(std::move(verb)),
          pattern(std::move(path)),
          scope(needs),
          body(takes),
          handle(std::move(handler)),
          check(std::move(check_only))
    {}
    // An operation for sessions.
    route(std::string verb, std::string path, body_kind takes, api_handler handler,
          api_handler check_only = {})
        : route(std::move(verb), std::move(path), required_scope::none_suffices(), takes,
                std::move(handler), std::move(check_only))
    {}
};

// The operations of the API by method and path. All of a path have the same entry check.
class routes
{
public:
    explicit routes(std::vector<route> operations);
    routes(const routes&) = delete;

    struct match
    {
        const route* operation = nullptr; // null: no such path or method
        http::router::match path;
        // Of the path, whatever the method; null where there is no such path.
        entry_check entry = nullptr;
    };
    // HEAD finds the route of GET.
    match find(const http::request& received) const;
    // Whether there is an operation at this path, which has no parameters.
    bool has_path(std::string_view path) const { return by_pattern_.contains(path); }

private:
    std::vector<route> operations_;
    std::map<std::string, const route*, std::less<>> by_name_;
    std::map<std::string_view, const route*> by_pattern_;
    http::router router_;
};

} // namespace tempinbox::gateway
