#include "rate-limit/block_pool.hpp"

#include "rate-limit/account_block.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// How long a used-up day is refused from memory; shorter while others hold units that could come
// back.
constexpr auto refusal_ttl = 1s;
constexpr auto uncertain_refusal_ttl = 100ms;
// Between reclaims for one account; only near the limit they come sooner.
constexpr auto reclaim_interval = 5s;
constexpr auto day_change_delay = 20ms;
constexpr auto sync_wait_timeout = 150ms;
// Reclaims end within the timeout of the calls that wait for them.
constexpr auto reclaim_timeout = 100ms;
// Blocks swept at once. Requests come before idle blocks, but TTLs must be renewed even if requests
// always wait for statements.
constexpr std::size_t max_swept = 100;
constexpr auto sweep_interval_under_load = 1s;

awaitable<void> reclaim_one(awaitable<void> asking, std::shared_ptr<async::wait_group> all)
{
    co_await std::move(asking);
    all->done();
}

} // namespace

block_pool::block_pool(runtime::host& host, const clock_source& clock, sync_statement sync,
                       reclaim_call reclaim, block_pool_settings chosen)
    : host_(host),
      clock_(clock),
      reclaim_(std::move(reclaim)),
      settings_(chosen),
      batcher_(host, std::move(sync)),
      all_closed_(host.executor()),
      accounts_(host.metrics().gauge("tempinbox_rate_limit_accounts",
                                     "Accounts whose blocks are held in memory")),
      refused_(host.metrics().counter("tempinbox_rate_limit_units_refused_total",
                                      "Units refused: the day's limit is used up")),
      undecided_(host.metrics().counter("tempinbox_rate_limit_units_undecided_total",
                                        "Units not decided in time"))
{}

block_pool::~block_pool() = default;

awaitable<std::vector<decision>> block_pool::take(std::vector<quota_request> requests)
{
    const auto caller = std::make_shared<call>(host_.executor(), std::move(requests));
    const day today = day_of(clock_.now());
    leave_other_days(today);
    if (is_closing_ ||
        account_blocks_.size() + leaving_.size() + caller->requests.size() > 2 * settings_.accounts)
        throw dependency_error(is_closing_ ? "the service is stopping"
                                           : "more accounts are held than there is room for");
    for (std::size_t i = 0; i < caller->requests.size(); ++i)
        start(caller, i, caller->requests[i], today);
    co_await caller->undecided.wait_until(steady::now() + settings_.timeout);
    caller->is_over = true;
    for (const auto& made : caller->decisions)
        undecided_.Increment(static_cast<double>(made.undecided));
    co_return std::move(caller->decisions);
}

block_pool::account_block_ptr block_pool::find_or_make(const quota_request& request, day today)
{
    const auto found = account_blocks_.find(request.account);
    if (found != account_blocks_.end()) {
        lru_.splice(lru_.end(), lru_, found->second->lru_position);
        return found->second;
    }
    evict_lru();
    const auto made = std::make_shared<account_block>(
        host_.executor(), block(request.account, today, uuid::make_v7(), request.limit));
    made->lru_position = lru_.insert(lru_.end(), made);
    account_blocks_.emplace(request.account, made);
    accounts_.Set(static_cast<double>(account_blocks_.size()));
    return made;
}

void block_pool::start(const std::shared_ptr<call>& caller, std::size_t index,
                       const quota_request& request, day today)
{
    const auto h = find_or_make(request, today);
    h->used_at = steady::now();
    h->current.update_limit(request.limit);
    h->waiting.emplace_back(caller, index);
    serve(*h);
    if (!h->waiting.empty() || h->current.is_low())
        sync(h, request.units > 0 ? block_sync::grow : block_sync::report);
}

// Serves calls in the order they came; the first that cannot be served in full blocks the rest.
void block_pool::serve(account_block& h)
{
    const bool is_refused =
        steady::now() < h.refused_until && h.current.is_known() && h.current.is_current();
    while (!h.waiting.empty() && h.is_spendable()) {
        auto& next = h.waiting.front();
        if (!next.caller->is_over) {
            auto& made = next.caller->decisions[next.index];
            const auto taken = h.current.spend(made.undecided);
            made.granted += taken;
            made.undecided -= taken;
            if (!h.current.is_known() || !h.current.is_current())
                return;
            if (made.undecided > 0 && !is_refused)
                return;
            refused_.Increment(static_cast<double>(made.undecided));
            next.caller->decide(next.index, h.current);
        }
        h.waiting.pop_front();
    }
}

void block_pool::finish_waiters(account_block& h, bool is_refused)
{
    for (const auto& each : h.waiting) {
        if (each.caller->is_over)
            continue;
        if (is_refused) {
            refused_.Increment(static_cast<double>(each.caller->decisions[each.index].undecided));
            each.caller->decide(each.index, h.current);
        } else {
            each.caller->leave();
        }
    }
    h.waiting.clear();
}

void block_pool::sync(const account_block_ptr& h, block_sync action)
{
    if (!h->begin_statement())
        return;
    h->was_requested = true;
    h->has_new_usage = false;
    h->last_sync_at = steady::now();
    auto request = h->current.report(h->is_closing() ? block_sync::close : action);
    batcher_.submit(std::move(request),
                    [this, h](const block_sync_request& reported, const block_sync_result* result) {
                        synced(h, reported, result);
                    });
}

void block_pool::synced(const account_block_ptr& h, const block_sync_request& reported,
                        const block_sync_result* result)
{
    h->end_statement();
    if (!result)
        return failed(h);
    if (reported.action == block_sync::close || result->outcome == block_outcome::gone)
        return closed(h);
    h->current.apply(reported, *result);
    h->notify_sync_waiters();
    if (h->is_closing())
        return sync(h, block_sync::close);
    if (result->outcome == block_outcome::other_day) {
        h->was_requested = h->current.is_known();
        boost::asio::co_spawn(host_.loop(), retry_later(h), boost::asio::detached);
        return;
    }
    // Units held by others are reclaimed before `remaining` is reported to anybody.
    if (result->held_by_others > 0 && steady::now() >= h->next_reclaim_at)
        return start_reclaim(h, result->holders);
    serve(*h);
    h->drop_timed_out_calls();
    continue_after_sync(h, reported, *result);
}

// After a sync: repeats it while units are left; before a refusal it reclaims the units of other
// holders. A day is used up only if a `grow` left the block empty: a block that still held units
// when it reported may have been too full to get more.
void block_pool::continue_after_sync(const account_block_ptr& h, const block_sync_request& reported,
                                     const block_sync_result& result)
{
    const auto now = steady::now();
    const bool is_used_up = reported.action == block_sync::grow && result.granted <= reported.spent;
    const bool is_in_need = !h->waiting.empty() && is_used_up && h->current.is_current();
    if (reported.action == block_sync::grow && !is_used_up)
        h->was_reclaimed_in_need = false;
    if (is_in_need && result.held_by_others > 0 && !h->was_reclaimed_in_need) {
        h->was_reclaimed_in_need = true;
        start_reclaim(h, result.holders);
    } else if (is_in_need) {
        h->was_reclaimed_in_need = false;
        h->refused_until =
            now + (result.held_by_others > 0 ? uncertain_refusal_ttl
                                             : std::chrono::milliseconds(refusal_ttl));
        finish_waiters(*h, true);
    } else if (!h->waiting.empty()) {
        sync(h, block_sync::grow);
    } else if (h->has_new_usage) {
        sync(h, block_sync::report);
    }
}

void block_pool::start_reclaim(const account_block_ptr& h, std::vector<std::string> holders)
{
    h->next_reclaim_at = steady::now() + reclaim_interval;
    h->begin_reclaim();
    boost::asio::co_spawn(host_.loop(), reclaim_then_sync(h, std::move(holders)),
                          boost::asio::detached);
}

awaitable<void> block_pool::reclaim_then_sync(account_block_ptr h, std::vector<std::string> holders)
{
    const auto all = std::make_shared<async::wait_group>(host_.executor(), holders.size());
    for (auto& holder : holders) {
        auto asking = reclaim_(std::move(holder), h->current.account(), h->current.on_day());
        boost::asio::co_spawn(host_.loop(), reclaim_one(std::move(asking), all),
                              boost::asio::detached);
    }
    co_await all->wait_until(steady::now() + reclaim_timeout);
    h->end_reclaim();
    sync(h, h->waiting.empty() ? block_sync::report : block_sync::grow);
}

// Nothing is granted until the clocks of this host and of PostgreSQL agree on the day: they differ
// around midnight or when one is wrong.
awaitable<void> block_pool::retry_later(account_block_ptr h)
{
    boost::asio::steady_timer timer(host_.loop(), day_change_delay);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    leave_other_days(day_of(clock_.now()));
    h->drop_timed_out_calls();
    if (!leaving_.contains(h) && !h->waiting.empty())
        sync(h, block_sync::grow);
}

void block_pool::start_closing(const account_block_ptr& h)
{
    if (h->phase == block_phase::ended)
        return;
    h->stop_spending();
    if (h->was_requested || h->current.has_unreported())
        sync(h, block_sync::close);
    else
        closed(h);
}

// Calls that still wait move to the new day, or get a new block of this day. If none waits, the
// account is dropped.
void block_pool::closed(const account_block_ptr& h)
{
    h->notify_sync_waiters();
    h->drop_timed_out_calls();
    const day today = day_of(clock_.now());
    if (leaving_.erase(h) > 0) {
        h->phase = block_phase::ended;
        for (auto& each : h->waiting)
            start(each.caller, each.index, each.caller->requests[each.index], today);
        h->waiting.clear();
    } else if (!h->waiting.empty() && !is_closing_) {
        h->start_new_block();
        sync(h, block_sync::grow);
    } else {
        h->phase = block_phase::ended;
        lru_.erase(h->lru_position);
        account_blocks_.erase(h->current.account());
    }
    accounts_.Set(static_cast<double>(account_blocks_.size()));
    if (is_closing_ && account_blocks_.empty() && leaving_.empty())
        all_closed_.set();
}

// The statement failed. Units held may still be spent, unless the block is closing: sweep() closes
// it later.
void block_pool::failed(const account_block_ptr& h)
{
    h->notify_sync_waiters();
    finish_waiters(*h, false);
}

void block_pool::leave_other_days(day today)
{
    if (today == today_)
        return;
    today_ = today;
    std::vector<account_block_ptr> ended;
    for (const auto& [account, h] : account_blocks_)
        if (h->current.on_day() != today)
            ended.push_back(h);
    for (const auto& h : ended) {
        lru_.erase(h->lru_position);
        account_blocks_.erase(h->current.account());
        leaving_.insert(h);
        // The new day's blocks come first: sweep() closes the other blocks in batches.
        if (!h->waiting.empty())
            start_closing(h);
    }
}

void block_pool::evict_lru()
{
    auto next = lru_.begin();
    for (auto held_now = account_blocks_.size();
         held_now >= settings_.accounts && next != lru_.end(); --held_now) {
        const auto h = *next++;
        if (!h->is_closing() && h->waiting.empty())
            start_closing(h);
    }
}

bool block_pool::sweep()
{
    leave_other_days(day_of(clock_.now()));
    const auto now = steady::now();
    if (!batcher_.is_idle() && now < next_sweep_at_)
        return true;
    std::vector<account_block_ptr> aging, ending;
    for (const auto& h : leaving_)
        if (!h->has_statement() && ending.size() < max_swept)
            ending.push_back(h);
    for (const auto& h : lru_) {
        if (aging.size() >= max_swept)
            break;
        if (h->has_statement())
            continue;
        // While statements fail, idle blocks are kept: their units can still be spent here.
        const bool is_over =
            h->is_closing() || (now - h->used_at >= settings_.idle_time && !batcher_.is_failing());
        if (is_over && ending.size() < max_swept)
            ending.push_back(h);
        else if (now - h->last_sync_at >= settings_.lease_time / 2)
            aging.push_back(h);
    }
    const bool is_renewing_more = aging.size() >= max_swept;
    next_sweep_at_ = is_renewing_more ? now : now + sweep_interval_under_load;
    for (const auto& h : aging)
        sync(h, block_sync::report);
    for (const auto& h : ending)
        start_closing(h);
    return is_renewing_more || ending.size() >= max_swept;
}

awaitable<bool> block_pool::give_back(account_id account, day on_day)
{
    account_block_ptr target;
    for (const auto& h : leaving_)
        if (h->current.account() == account && h->current.on_day() == on_day)
            target = h;
    if (const auto found = account_blocks_.find(account);
        found != account_blocks_.end() && found->second->current.on_day() == on_day)
        target = found->second;
    if (!target)
        co_return true;
    start_closing(target);
    if (!target->is_closing())
        co_return true;
    const auto end = steady::now() + sync_wait_timeout;
    while (target->is_closing() && steady::now() < end)
        co_await target->sync_ended.wait_until(end);
    co_return !target->is_closing();
}

awaitable<void> block_pool::report_usage(account_id account)
{
    const auto found = account_blocks_.find(account);
    if (found == account_blocks_.end())
        co_return;
    const account_block_ptr h = found->second;
    const auto end = steady::now() + sync_wait_timeout;
    while (h->current.has_unreported() && steady::now() < end) {
        sync(h, block_sync::report);
        co_await h->sync_ended.wait_until(end);
    }
}

void block_pool::refresh(account_id account)
{
    const auto found = account_blocks_.find(account);
    if (found == account_blocks_.end())
        return;
    found->second->has_new_usage = true; // a statement under way may have missed it
    sync(found->second, block_sync::report);
}

awaitable<void> block_pool::close(std::chrono::milliseconds deadline)
{
    is_closing_ = true;
    std::vector<account_block_ptr> all(leaving_.begin(), leaving_.end());
    all.insert(all.end(), lru_.begin(), lru_.end());
    for (const auto& h : all) {
        finish_waiters(*h, false);
        start_closing(h);
    }
    if (!account_blocks_.empty() || !leaving_.empty())
        co_await all_closed_.wait_until(steady::now() + deadline);
}

} // namespace tempinbox::rate_limit
