#include "gateway/access/session_lookups.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_seen = 100'000;

} // namespace

awaitable<result<session_result>> session_lookups::find(std::string digest, lookups allowed)
{
    session_result found;
    found.was_strange = !seen_open_.contains(digest);
    if (found.was_strange && allowed == lookups::seen_good)
        co_return failure{errc::rate_limited,
                          "Too many requests with sessions that do not exist from this address",
                          error_reason::authentication_limit};
    lookup_limiter::slot slot;
    if (found.was_strange) {
        slot = co_await strangers_.enter();
        if (!slot)
            co_return too_many_lookups();
    }
    found.account = co_await sign_in_.find_session(digest);
    if (found.account)
        note_open(std::move(digest));
    else
        seen_open_.erase(digest);
    co_return found;
}

void session_lookups::note_open(std::string digest)
{
    if (seen_open_.size() >= max_seen)
        seen_open_.clear();
    seen_open_.insert(std::move(digest));
}

} // namespace tempinbox::gateway
