#include "rate-limit/lease_book.hpp"

#include "rate-limit/lease_holding.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// A day that is used up is refused from memory for this long; where others hold units that could
// come back, shorter.
constexpr auto refusal_holds = 1s;
constexpr auto doubtful_refusal_holds = 100ms;
// Only near the limit others are asked again sooner.
constexpr auto pause_between_recalls = 5s;
constexpr auto pause_between_days = 20ms;
constexpr auto patience_of_watchers = 150ms;
// Other holders are asked within the patience of those who wait.
constexpr auto patience_of_recalls = 100ms;
// In one go. A request comes before what is idle, but no lease may end because requests always wait
// for a statement.
constexpr std::size_t most_tidied = 100;
constexpr auto tidied_under_load = 1s;

// Holders that are asked for what they have, all at once.
struct recalling
{
    std::size_t open;
    runtime::completion done;

    recalling(const boost::asio::any_io_executor& executor, std::size_t count)
        : open(count),
          done(executor)
    {}
};

awaitable<void> recall_one(awaitable<void> asking, std::shared_ptr<recalling> all)
{
    co_await std::move(asking);
    if (--all->open == 0)
        all->done.set();
}

} // namespace

lease_book::lease_book(runtime::host& host, const clock_source& clock, settle_statement settle,
                       recall ask_back, lease_book_settings chosen)
    : host_(host),
      clock_(clock),
      ask_back_(std::move(ask_back)),
      settings_(chosen),
      lane_(host, std::move(settle)),
      accounts_(host.metrics().gauge("tempinbox_rate_limit_accounts",
                                     "Accounts whose units are held in memory")),
      refused_(host.metrics().counter("tempinbox_rate_limit_refused_total",
                                      "Units refused: the day's limit is used up")),
      undecided_(host.metrics().counter("tempinbox_rate_limit_undecided_total",
                                        "Units nobody could judge in time"))
{}

lease_book::~lease_book() = default;

awaitable<std::vector<decision>> lease_book::take(std::vector<ask> asks)
{
    const auto caller = std::make_shared<call>(host_.executor(), std::move(asks));
    const day today = day_of(clock_.now());
    leave_other_days(today);
    if (is_closing_ ||
        holdings_.size() + leaving_.size() + caller->asks.size() > 2 * settings_.accounts)
        throw dependency_error(is_closing_ ? "the service is stopping"
                                           : "more accounts are held than there is room for");
    for (std::size_t i = 0; i < caller->asks.size(); ++i)
        start(caller, i, caller->asks[i], today);
    if (caller->open > 0)
        co_await caller->done.wait_until(steady::now() + settings_.patience);
    caller->is_over = true;
    for (const auto& made : caller->decisions)
        undecided_.Increment(static_cast<double>(made.undecided));
    co_return std::move(caller->decisions);
}

lease_book::held lease_book::find_or_make(const ask& wanted, day today)
{
    const auto found = holdings_.find(wanted.account);
    if (found != holdings_.end()) {
        by_use_.splice(by_use_.end(), by_use_, found->second->place_by_use);
        return found->second;
    }
    make_room();
    const auto made =
        std::make_shared<holding>(lease(wanted.account, today, uuid::make_v7(), wanted.limit));
    made->place_by_use = by_use_.insert(by_use_.end(), made);
    holdings_.emplace(wanted.account, made);
    accounts_.Set(static_cast<double>(holdings_.size()));
    return made;
}

void lease_book::start(const std::shared_ptr<call>& caller, std::size_t place, const ask& wanted,
                       day today)
{
    const auto h = find_or_make(wanted, today);
    h->used_at = steady::now();
    h->units.hear(wanted.limit);
    h->waiting.emplace_back(caller, place);
    serve(*h);
    if (!h->waiting.empty() || h->units.is_low())
        settle(h, wanted.units > 0 ? settlement::grow : settlement::report);
}

// In the order they came; the first that cannot be given all it wants holds up the rest.
void lease_book::serve(holding& h)
{
    const bool is_refused =
        steady::now() < h.refused_until && h.units.is_known() && h.units.is_current();
    while (!h.waiting.empty() && !h.is_closing && !h.is_recalling) {
        auto& next = h.waiting.front();
        if (!next.caller->is_over) {
            auto& made = next.caller->decisions[next.place];
            const auto taken = h.units.spend(made.undecided);
            made.granted += taken;
            made.undecided -= taken;
            if (!h.units.is_known() || !h.units.is_current())
                return;
            if (made.undecided > 0 && !is_refused)
                return;
            refused_.Increment(static_cast<double>(made.undecided));
            next.caller->decide(next.place, h.units);
        }
        h.waiting.pop_front();
    }
}

void lease_book::end_waiting(holding& h, bool is_refused)
{
    for (const auto& each : h.waiting) {
        if (each.caller->is_over)
            continue;
        if (is_refused) {
            refused_.Increment(static_cast<double>(each.caller->decisions[each.place].undecided));
            each.caller->decide(each.place, h.units);
        } else {
            each.caller->leave();
        }
    }
    h.waiting.clear();
}

void lease_book::settle(const held& h, settlement action)
{
    if (h->has_ended || h->is_settling || (h->is_recalling && !h->is_closing))
        return;
    h->is_settling = true;
    h->was_asked_for = true;
    h->has_new_debt = false;
    h->told_at = steady::now();
    auto request = h->units.report(h->is_closing ? settlement::close : action);
    lane_.ask(std::move(request), [this, h](const block_request& told, const block_answer* answer) {
        settled(h, told, answer);
    });
}

void lease_book::settled(const held& h, const block_request& told, const block_answer* answer)
{
    h->is_settling = false;
    if (!answer)
        return failed(h);
    if (told.action == settlement::close || answer->outcome == block_outcome::gone)
        return closed(h);
    h->units.learn(told, *answer);
    h->tell_watchers();
    if (h->is_closing)
        return settle(h, settlement::close);
    if (answer->outcome == block_outcome::other_day) {
        h->was_asked_for = h->units.is_known();
        boost::asio::co_spawn(host_.loop(), look_again(h), boost::asio::detached);
        return;
    }
    // Before anybody is told what remains.
    if (answer->elsewhere > 0 && steady::now() >= h->recall_again_at)
        return start_recall(h, answer->holders);
    serve(*h);
    h->forget_gone_callers();
    go_on(h, told, *answer);
}

// After an answer: once more while anything is left; before a refusal the other holders are asked
// for what they have. Nothing is left only where a block that was to grow came back empty: one that
// still held units when it was told may have been full.
void lease_book::go_on(const held& h, const block_request& told, const block_answer& answer)
{
    const auto now = steady::now();
    const bool is_used_up = told.action == settlement::grow && answer.granted <= told.spent;
    const bool is_in_need = !h->waiting.empty() && is_used_up && h->units.is_current();
    if (told.action == settlement::grow && !is_used_up)
        h->was_recalled_in_need = false;
    if (is_in_need && answer.elsewhere > 0 && !h->was_recalled_in_need) {
        h->was_recalled_in_need = true;
        start_recall(h, answer.holders);
    } else if (is_in_need) {
        h->was_recalled_in_need = false;
        h->refused_until = now + (answer.elsewhere > 0 ? doubtful_refusal_holds
                                                       : std::chrono::milliseconds(refusal_holds));
        end_waiting(*h, true);
    } else if (!h->waiting.empty()) {
        settle(h, settlement::grow);
    } else if (h->has_new_debt) {
        settle(h, settlement::report);
    }
}

void lease_book::start_recall(const held& h, std::vector<std::string> holders)
{
    h->recall_again_at = steady::now() + pause_between_recalls;
    h->is_recalling = true;
    boost::asio::co_spawn(host_.loop(), recall_then_settle(h, std::move(holders)),
                          boost::asio::detached);
}

awaitable<void> lease_book::recall_then_settle(held h, std::vector<std::string> holders)
{
    const auto all = std::make_shared<recalling>(host_.executor(), holders.size());
    for (auto& holder : holders) {
        auto asking = ask_back_(std::move(holder), h->units.account(), h->units.on_day());
        boost::asio::co_spawn(host_.loop(), recall_one(std::move(asking), all),
                              boost::asio::detached);
    }
    if (all->open > 0)
        co_await all->done.wait_until(steady::now() + patience_of_recalls);
    h->is_recalling = false;
    settle(h, h->waiting.empty() ? settlement::report : settlement::grow);
}

// The clocks of this host and of PostgreSQL are on different days, or midnight came between: until
// they agree nothing is granted.
awaitable<void> lease_book::look_again(held h)
{
    boost::asio::steady_timer pause(host_.loop(), pause_between_days);
    co_await pause.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    leave_other_days(day_of(clock_.now()));
    h->forget_gone_callers();
    if (!h->is_leaving && !h->waiting.empty())
        settle(h, settlement::grow);
}

void lease_book::start_closing(const held& h)
{
    h->is_closing = true;
    if (h->was_asked_for || h->units.has_untold())
        settle(h, settlement::close);
    else
        closed(h);
}

void lease_book::closed(const held& h)
{
    h->is_closing = false;
    h->tell_watchers();
    h->forget_gone_callers();
    h->has_ended = h->is_leaving || h->waiting.empty() || is_closing_;
    const day today = day_of(clock_.now());
    if (h->is_leaving) {
        leaving_.erase(h);
        for (auto& each : h->waiting)
            start(each.caller, each.place, each.caller->asks[each.place], today);
        h->waiting.clear();
    } else if (!h->has_ended) {
        begin_anew(*h);
        settle(h, settlement::grow);
    } else {
        by_use_.erase(h->place_by_use);
        holdings_.erase(h->units.account());
    }
    accounts_.Set(static_cast<double>(holdings_.size()));
    if (holdings_.empty() && leaving_.empty() && all_closed_)
        all_closed_->set();
}

// What is held may still be spent, except by one that was to be given back: that is tried again
// later.
void lease_book::failed(const held& h)
{
    h->tell_watchers();
    end_waiting(*h, false);
}

void lease_book::begin_anew(holding& h)
{
    h.units = lease(h.units.account(), h.units.on_day(), uuid::make_v7(), h.units.heard());
    h.was_asked_for = false;
}

void lease_book::leave_other_days(day today)
{
    if (today == today_)
        return;
    today_ = today;
    std::vector<held> ended;
    for (const auto& [account, h] : holdings_)
        if (h->units.on_day() != today)
            ended.push_back(h);
    for (const auto& h : ended) {
        by_use_.erase(h->place_by_use);
        holdings_.erase(h->units.account());
        h->is_leaving = true;
        leaving_.insert(h);
        // The rest goes back bit by bit: the new day's blocks come first.
        if (!h->waiting.empty())
            start_closing(h);
    }
}

void lease_book::make_room()
{
    auto next = by_use_.begin();
    for (auto held_now = holdings_.size(); held_now >= settings_.accounts && next != by_use_.end();
         --held_now) {
        const auto h = *next++;
        if (!h->is_closing && h->waiting.empty())
            start_closing(h);
    }
}

bool lease_book::tidy()
{
    leave_other_days(day_of(clock_.now()));
    const auto now = steady::now();
    if (!lane_.is_idle() && now < tidy_again_at_)
        return true;
    std::vector<held> aging, ending;
    for (const auto& h : leaving_)
        if (!h->is_settling && ending.size() < most_tidied)
            ending.push_back(h);
    for (const auto& h : by_use_) {
        if (aging.size() >= most_tidied)
            break;
        if (h->is_settling)
            continue;
        // While nobody answers, what is held is worth more here.
        const bool is_over =
            h->is_closing || (now - h->used_at >= settings_.idle_time && !lane_.is_failing());
        if (is_over && ending.size() < most_tidied)
            ending.push_back(h);
        else if (now - h->told_at >= settings_.lease_time / 2)
            aging.push_back(h);
    }
    const bool is_renewing_more = aging.size() >= most_tidied;
    tidy_again_at_ = is_renewing_more ? now : now + tidied_under_load;
    for (const auto& h : aging)
        settle(h, settlement::report);
    for (const auto& h : ending)
        start_closing(h);
    return is_renewing_more || ending.size() >= most_tidied;
}

awaitable<bool> lease_book::give_back(account_id account, day on_day)
{
    held wanted;
    for (const auto& h : leaving_)
        if (h->units.account() == account && h->units.on_day() == on_day)
            wanted = h;
    if (const auto found = holdings_.find(account);
        found != holdings_.end() && found->second->units.on_day() == on_day)
        wanted = found->second;
    if (!wanted)
        co_return true;
    start_closing(wanted);
    if (!wanted->is_closing)
        co_return true;
    const auto end = steady::now() + patience_of_watchers;
    while (wanted->is_closing && steady::now() < end) {
        const auto settled_once = std::make_shared<runtime::completion>(host_.executor());
        wanted->watchers.push_back(settled_once);
        co_await settled_once->wait_until(end);
    }
    co_return !wanted->is_closing;
}

awaitable<void> lease_book::tell(account_id account)
{
    const auto found = holdings_.find(account);
    if (found == holdings_.end())
        co_return;
    const held h = found->second;
    const auto end = steady::now() + patience_of_watchers;
    while (h->units.has_untold() && steady::now() < end) {
        const auto settled_once = std::make_shared<runtime::completion>(host_.executor());
        h->watchers.push_back(settled_once);
        settle(h, settlement::report);
        co_await settled_once->wait_until(end);
    }
}

void lease_book::refresh(account_id account)
{
    const auto found = holdings_.find(account);
    if (found == holdings_.end())
        return;
    found->second->has_new_debt = true; // a statement under way may have come too early
    settle(found->second, settlement::report);
}

awaitable<void> lease_book::close(std::chrono::milliseconds deadline)
{
    is_closing_ = true;
    all_closed_ = std::make_shared<runtime::completion>(host_.executor());
    std::vector<held> all(leaving_.begin(), leaving_.end());
    all.insert(all.end(), by_use_.begin(), by_use_.end());
    for (const auto& h : all) {
        end_waiting(*h, false);
        start_closing(h);
    }
    if (!holdings_.empty() || !leaving_.empty())
        co_await all_closed_->wait_until(steady::now() + deadline);
}

} // namespace tempinbox::rate_limit
