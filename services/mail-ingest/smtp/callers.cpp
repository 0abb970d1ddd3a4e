#include "mail-ingest/smtp/callers.hpp"

namespace tempinbox::smtp {
namespace {

constexpr std::chrono::minutes guess_window{10};
constexpr std::chrono::hours accepted_window{24};

} // namespace

callers::verdict callers::enter(const address& who)
{
    if (limits_.connections > 0 && connected_ >= limits_.connections)
        return verdict::too_many;
    if (!is_exempt(who)) {
        const auto most = contains(limits_.large_senders, who) ? limits_.connections_a_large_sender
                                                               : limits_.connections_an_address;
        if (most > 0 && connections_.find_full(who, most))
            return verdict::too_many_from_address;
        connections_.enter(who);
    }
    ++connected_;
    return verdict::welcome;
}

void callers::leave(const address& who)
{
    --connected_;
    if (!is_exempt(who))
        connections_.leave(who);
}

bool callers::is_over_rate(const address& who, time_point now)
{
    return limits_.messages_per_minute > 0 && !is_exempt(who) &&
           !messages_.has(client_prefix(who), now);
}

void callers::note_message(const address& who, time_point now)
{
    if (limits_.messages_per_minute > 0)
        messages_.take(client_prefix(who), now);
}

void callers::note_unknown_recipient(const address& who, time_point now)
{
    if (limits_.unknown_recipients == 0 || is_exempt(who))
        return;
    const auto key = client_prefix(who);
    auto* known = guesses_.find(key);
    if (!known || now - known->window_start > guess_window)
        known = &guesses_.put(key, guesses{now, 0});
    ++known->count;
}

void callers::note_accepted_mail(const address& who, time_point now)
{
    accepted_.put(client_prefix(who), now);
}

bool callers::is_slowed(const address& who, time_point now)
{
    if (limits_.unknown_recipients == 0)
        return false;
    const auto key = client_prefix(who);
    const auto* known = guesses_.find(key);
    if (!known || known->count < limits_.unknown_recipients ||
        now - known->window_start > guess_window)
        return false;
    const auto* accepted = accepted_.find(key);
    return !accepted || now - *accepted > accepted_window;
}

} // namespace tempinbox::smtp
