#include "mail-ingest/logins/login_failures.hpp"

#include "common/core/network.hpp"

#include <algorithm>

namespace tempinbox::mail_ingest {
namespace {

std::string pair_key(const boost::asio::ip::address& client, const std::string& user)
{
    return client_prefix(client) + " " + user;
}

} // namespace

int login_failures::current(counts& all, const std::string& key, time_point now)
{
    const auto* entry = all.find(key);
    return entry && now - entry->window_start <= window ? entry->failures : 0;
}

int login_failures::add(counts& all, const std::string& key, time_point now)
{
    auto* entry = all.find(key);
    if (!entry || now - entry->window_start > window)
        entry = &all.put(key, count{now, 0});
    return ++entry->failures;
}

bool login_failures::was_good(const address& client, const std::string& user, time_point now)
{
    const auto* at = good_.find(pair_key(client, user));
    return at && now - *at <= good_for;
}

bool login_failures::is_refused(const address& client, const std::string& user, time_point now)
{
    return current(by_address_, client_prefix(client), now) >= address_before_refusal &&
           !was_good(client, user, now);
}

std::chrono::milliseconds login_failures::note_failure(const address& client,
                                                       const std::string& user, time_point now)
{
    const bool is_excused = was_good(client, user, now);
    const auto of_address = add(by_address_, client_prefix(client), now);
    const auto of_user = user.empty() ? 0 : add(by_user_, user, now);
    std::chrono::milliseconds wait{0};
    if (of_address >= address_before_delay && !is_excused)
        wait = address_delay;
    if (of_user >= user_before_delay)
        wait = std::max(wait, user_delay);
    return wait;
}

std::chrono::milliseconds login_failures::note_success(const address& client,
                                                       const std::string& user, time_point now)
{
    const bool is_excused = was_good(client, user, now);
    good_.put(pair_key(client, user), now);
    const auto of_address = current(by_address_, client_prefix(client), now);
    return of_address >= address_before_delay && !is_excused ? address_delay
                                                             : std::chrono::milliseconds{0};
}

} // namespace tempinbox::mail_ingest
