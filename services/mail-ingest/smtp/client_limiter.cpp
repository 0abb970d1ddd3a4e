#include "mail-ingest/smtp/client_limiter.hpp"

namespace tempinbox::smtp {
namespace {

constexpr std::chrono::minutes guess_window{10};
constexpr std::chrono::hours accepted_window{24};

} // namespace

client_limiter::admission client_limiter::enter(const client_address& who)
{
    if (limits_.connections > 0 && connected_ >= limits_.connections)
        return admission::too_many;
    if (!is_exempt(who)) {
        const auto max_connections = contains(limits_.large_senders, who.address)
                                         ? limits_.connections_per_large_sender
                                         : limits_.connections_per_address;
        if (connections_.find_full(who.address, max_connections))
            return admission::too_many_from_address;
        connections_.enter(who.address);
    }
    ++connected_;
    return admission::welcome;
}

void client_limiter::leave(const client_address& who)
{
    --connected_;
    if (!is_exempt(who))
        connections_.leave(who.address);
}

bool client_limiter::is_over_rate(const client_address& who, time_point now)
{
    return limits_.messages_per_minute > 0 && !is_exempt(who) &&
           !messages_.has(client_prefix(who.address), now);
}

void client_limiter::note_message(const client_address& who, time_point now)
{
    if (limits_.messages_per_minute > 0 && !is_exempt(who))
        messages_.take(client_prefix(who.address), now);
}

void client_limiter::note_unknown_recipient(const client_address& who, time_point now)
{
    if (limits_.unknown_recipients == 0 || is_exempt(who))
        return;
    const auto key = client_prefix(who.address);
    auto* entry = guesses_.find(key);
    if (!entry || now - entry->window_start > guess_window)
        entry = &guesses_.put(key, guesses{now, 0});
    ++entry->count;
}

void client_limiter::note_accepted_mail(const client_address& who, time_point now)
{
    accepted_.put(client_prefix(who.address), now);
}

bool client_limiter::is_slowed(const client_address& who, time_point now)
{
    if (limits_.unknown_recipients == 0 || is_exempt(who))
        return false;
    const auto key = client_prefix(who.address);
    const auto* entry = guesses_.find(key);
    if (!entry || entry->count < limits_.unknown_recipients ||
        now - entry->window_start > guess_window)
        return false;
    const auto* accepted = accepted_.find(key);
    return !accepted || now - *accepted > accepted_window;
}

} // namespace tempinbox::smtp
