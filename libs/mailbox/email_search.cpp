#include "mailbox/email_search.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

constexpr std::size_t max_near_misses = 10;
constexpr std::size_t max_actual_length = 200;

} // namespace

search_run::search_run(const email_search& search)
    : filter_(search.filter),
      after_(search.after),
      max_matches_(search.max_matches)
{
    result_.searched_to = after_;
}

bool search_run::is_undecided(const examined_email& read) const
{
    return !is_full() && read.sequence > after_ && filter_.is_undecided(read.email);
}

void search_run::examine(const examined_email& read)
{
    if (is_full() || read.sequence <= after_)
        return;
    result_.searched_to = read.sequence;
    const auto failing = filter_.first_failing(read.email);
    if (!failing) {
        result_.emails.push_back(read.id);
        return;
    }
    near_miss missed;
    missed.email = read.id;
    missed.sequence = read.sequence;
    missed.field = *failing;
    missed.actual = take_characters(read.email.text(*failing), max_actual_length);
    auto& misses = result_.near_misses;
    if (misses.size() == max_near_misses)
        misses.erase(misses.begin());
    misses.push_back(std::move(missed));
}

void search_run::searched_up_to(std::int64_t sequence)
{
    if (!is_full())
        result_.searched_to = std::max(after_, sequence);
}

} // namespace tempinbox::mailbox
