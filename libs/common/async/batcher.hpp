#pragma once

#include "common/async/fair_queue.hpp"
#include "common/async/reset_event.hpp"
#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tempinbox::async {

// How a batcher forms its calls.
struct batch_policy
{
    std::size_t max_in_flight = 1; // calls at the same time
    // While calls are in flight, a further one begins only once max_items are there or the newest
    // ran this long: one call at a time gives the largest batches, and a slow one holds nobody up.
    // Zero: at once.
    std::chrono::milliseconds slow_after{0};
    std::size_t max_items = 500; // in one call
    std::size_t max_weight = 0;  // of one call's items together, but one always fits; 0: no bound
    std::chrono::milliseconds linger{0};  // gather this long for a call that is not full
    std::chrono::milliseconds timeout{0}; // of a waiter without a deadline of its own; 0: none
};

struct unit_item_weight
{
    template <class Item>
    std::size_t operator()(const Item&) const
    {
        return 1;
    }
};

// All items are in one line.
struct one_line
{
    template <class Item>
    std::monostate operator()(const Item&) const
    {
        return {};
    }
};

// Batches items into calls: items that come while calls are in flight, or while a call lingers,
// form the next. Used on one loop.
//
// Share: items whose `Share` differs, such as accounts, take turns: however many one of them adds,
// the others' items come into the next call.
// Result: what one item is answered with; void if the call has none. The call returns the results
// in the order of its items; those that it leaves out at the end get none.
// Failure: a call that throws gives every item of it no result. Of consecutive failures only the
// first is logged, as `name`, and their end. Nothing is sent again: a call that shall be repeated
// repeats itself.
// Timeout: a waiter whose deadline passes gets no result. If its call has not begun, its item is
// not sent; otherwise the call ends as usual and the result is dropped.
// Drain: `stop` takes no more items and ends the linger; what is in flight or gathered is still
// called. The destructor drops what is gathered; calls in flight end on their own, and what they
// use must outlive them.
template <class Item, class Result, class Weight = unit_item_weight, class Share = one_line>
class batcher
{
    using stored = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;

public:
    using results = std::conditional_t<std::is_void_v<Result>, void, std::vector<stored>>;
    using call = std::function<awaitable<results>(std::vector<Item>)>;

    // `name` says in log lines what failed: "addresses cannot be looked up".
    batcher(boost::asio::any_io_executor executor, const batch_policy& policy, std::string name,
            call send)
        : state_(std::make_shared<state>(std::move(executor), policy, std::move(name),
                                         std::move(send)))
    {}
    ~batcher() { state_->drop_gathered(); }
    batcher(const batcher&) = delete;

    // nullopt: no result, as said above. Of Result void: monostate once the call succeeded.
    awaitable<std::optional<stored>> ask(Item item)
    {
        const auto timeout = state_->policy.timeout;
        return ask(std::move(item),
                   timeout.count() > 0 ? deadline::after(timeout) : deadline::never());
    }
    awaitable<std::optional<stored>> ask(Item item, deadline until)
    {
        return state::ask(state_, std::move(item), until);
    }
    // Without waiting for the result. False if stopped: the item is dropped.
    bool submit(Item item) { return state_->add(std::move(item), nullptr); }

    // Takes no more items. True once all calls have ended, false if the deadline passed first.
    awaitable<bool> stop(deadline until = deadline::never()) { return state::stop(state_, until); }

    // Items that no call carries yet; those whose waiter left may be among them.
    std::size_t gathered() const { return state_->gathered.size(); }
    // Those, and the items in flight.
    std::size_t pending() const { return gathered() + state_->items_in_flight; }
    // Whether the last call threw.
    bool is_failing() const { return state_->is_failing; }

private:
    struct waiter
    {
        reset_event done;
        std::optional<stored> result;
        bool has_left = false;

        explicit waiter(const boost::asio::any_io_executor& executor) : done(executor) {}
    };
    struct entry
    {
        Item item;
        std::shared_ptr<waiter> asker; // null if nobody waits
    };
    using steady = std::chrono::steady_clock;

    // Kept alive by its coroutines.
    struct state : std::enable_shared_from_this<state>
    {
        boost::asio::any_io_executor executor;
        const batch_policy policy;
        const std::string name;
        call send;
        fair_queue<std::decay_t<std::invoke_result_t<Share, const Item&>>, entry> gathered;
        std::multiset<steady::time_point> in_flight; // when each call began
        std::size_t items_in_flight = 0;
        bool is_gathering = false; // a coroutine is about to take a batch
        bool is_stopping = false;
        bool is_failing = false;
        reset_event is_full; // or stopping: the linger ends
        reset_event is_idle;

        state(boost::asio::any_io_executor where, const batch_policy& chosen, std::string text,
              call given)
            : executor(std::move(where)),
              policy(chosen),
              name(std::move(text)),
              send(std::move(given)),
              is_full(executor, reset_event::mode::automatic),
              is_idle(executor)
        {
            is_idle.set();
        }

        bool add(Item item, std::shared_ptr<waiter> asker)
        {
            if (is_stopping)
                return false;
            auto share = Share()(item);
            gathered.push(std::move(share), entry{std::move(item), std::move(asker)});
            is_idle.reset();
            if (gathered.size() >= policy.max_items)
                is_full.set();
            begin_if_needed();
            return true;
        }

        static awaitable<std::optional<stored>> ask(std::shared_ptr<state> self, Item item,
                                                    deadline until)
        {
            const auto mine = std::make_shared<waiter>(self->executor);
            if (!self->add(std::move(item), mine))
                co_return std::nullopt;
            mine->has_left = !co_await mine->done.wait_until(until);
            co_return mine->has_left ? std::nullopt : std::move(mine->result);
        }

        static awaitable<bool> stop(std::shared_ptr<state> self, deadline until)
        {
            self->is_stopping = true;
            self->is_full.set();
            co_return co_await self->is_idle.wait_until(until);
        }

        void drop_gathered()
        {
            is_stopping = true;
            is_full.set();
            for (; !gathered.empty(); gathered.pop())
                if (const auto& asker = gathered.front().asker)
                    asker->done.set();
        }

        bool may_begin() const
        {
            if (is_gathering || gathered.empty())
                return false;
            return in_flight.empty() ||
                   (in_flight.size() < policy.max_in_flight &&
                    (gathered.size() >= policy.max_items ||
                     *in_flight.rbegin() <= steady::now() - policy.slow_after));
        }

        void begin_if_needed()
        {
            if (!may_begin())
                return;
            is_gathering = true;
            boost::asio::co_spawn(executor, run(this->shared_from_this()), boost::asio::detached);
        }

        static awaitable<void> run(std::shared_ptr<state> self)
        {
            do {
                self->is_gathering = true;
                co_await self->gather();
                auto batch = self->take_batch();
                self->is_gathering = false;
                if (!batch.empty())
                    co_await carry(self, std::move(batch));
            } while (self->may_begin());
            if (self->gathered.empty() && self->in_flight.empty() && !self->is_gathering)
                self->is_idle.set();
        }

        awaitable<void> gather()
        {
            // Lets items that are complete at this moment join.
            co_await boost::asio::post(executor, boost::asio::use_awaitable);
            const auto until = deadline::after(policy.linger);
            while (policy.linger.count() > 0 && gathered.size() < policy.max_items &&
                   !is_stopping && !until.has_passed())
                co_await is_full.wait_until(until);
        }

        std::vector<entry> take_batch()
        {
            std::vector<entry> batch;
            std::size_t weight = 0;
            while (!gathered.empty() && batch.size() < policy.max_items) {
                auto& next = gathered.front();
                if (!next.asker || !next.asker->has_left) {
                    weight += Weight()(next.item);
                    if (!batch.empty() && policy.max_weight > 0 && weight > policy.max_weight)
                        break;
                    batch.push_back(std::move(next));
                }
                gathered.pop();
            }
            return batch;
        }

        static awaitable<void> carry(std::shared_ptr<state> self, std::vector<entry> batch)
        {
            const auto began = self->in_flight.insert(steady::now());
            self->items_in_flight += batch.size();
            self->begin_if_needed(); // what is left may be full, too
            // While this call is slow, what is gathered does not wait for its end.
            boost::asio::steady_timer slow(self->executor);
            if (self->policy.max_in_flight > 1) {
                slow.expires_after(self->policy.slow_after);
                slow.async_wait([self](const boost::system::error_code& error) {
                    if (!error)
                        self->begin_if_needed();
                });
            }
            co_await self->call_once(batch);
            self->items_in_flight -= batch.size();
            self->in_flight.erase(began);
            for (const auto& each : batch)
                if (each.asker)
                    each.asker->done.set();
        }

        awaitable<void> call_once(std::vector<entry>& batch)
        {
            std::vector<Item> items;
            items.reserve(batch.size());
            for (auto& each : batch)
                items.push_back(std::move(each.item));
            std::optional<std::string> error;
            try {
                if constexpr (std::is_void_v<Result>) {
                    co_await send(std::move(items));
                    for (const auto& each : batch)
                        if (each.asker)
                            each.asker->result.emplace();
                } else {
                    auto found = co_await send(std::move(items));
                    for (std::size_t i = 0; i < std::min(found.size(), batch.size()); ++i)
                        if (batch[i].asker)
                            batch[i].asker->result = std::move(found[i]);
                }
            } catch (const std::exception& thrown) {
                error = thrown.what();
            }
            note_end(error, batch.size());
        }

        void note_end(const std::optional<std::string>& error, std::size_t items)
        {
            if (error && !is_failing)
                log::warning(name, {{"error", *error}, {"items", items}});
            if (!error && is_failing)
                log::info("batched calls succeed again", {{"batcher", name}});
            is_failing = error.has_value();
        }
    };

    std::shared_ptr<state> state_;
};

// A batcher of look-ups by key: equal keys that no call carries yet share one. Nobody joins a call
// that has begun, since its values may be older than the question. Failure, timeout and drain are
// the batcher's; a key stays in its call even if all who asked have left.
template <class Key, class Value>
class keyed_batcher
{
public:
    // Returns values by key. A key that is left out gets no value.
    using call = std::function<awaitable<std::map<Key, Value>>(std::vector<Key>)>;

    keyed_batcher(boost::asio::any_io_executor executor, const batch_policy& policy,
                  std::string name, call send)
        : shared_(std::make_shared<shared>(executor, std::move(send))),
          timeout_(policy.timeout),
          batches_(executor, policy, std::move(name),
                   [own = shared_](std::vector<Key> keys) { return look_up(own, std::move(keys)); })
    {}
    ~keyed_batcher()
    {
        for (const auto& [key, one] : shared_->gathered)
            one->done.set();
    }
    keyed_batcher(const keyed_batcher&) = delete;

    // nullopt: no value came in time.
    awaitable<std::optional<Value>> ask(Key key)
    {
        const auto until = timeout_.count() > 0 ? deadline::after(timeout_) : deadline::never();
        auto& one = shared_->gathered[key];
        if (!one) {
            one = std::make_shared<question>(shared_->executor);
            if (!batches_.submit(key))
                one->done.set();
        }
        return wait_for(one, until);
    }

    awaitable<bool> stop(deadline until = deadline::never()) { return batches_.stop(until); }

private:
    struct question
    {
        reset_event done;
        std::optional<Value> value;

        explicit question(const boost::asio::any_io_executor& executor) : done(executor) {}
    };
    using questions = std::map<Key, std::shared_ptr<question>>;
    struct shared
    {
        boost::asio::any_io_executor executor;
        call send;
        questions gathered; // of the keys that no call carries yet

        shared(boost::asio::any_io_executor where, call given)
            : executor(std::move(where)),
              send(std::move(given))
        {}
    };
    // Ends the waits whichever way the call ends.
    struct carried
    {
        questions asked;

        carried() = default;
        carried(const carried&) = delete;
        ~carried()
        {
            for (const auto& [key, one] : asked)
                one->done.set();
        }
    };

    static awaitable<std::optional<Value>> wait_for(std::shared_ptr<question> one, deadline until)
    {
        co_await one->done.wait_until(until);
        co_return one->value;
    }

    static awaitable<void> look_up(std::shared_ptr<shared> own, std::vector<Key> keys)
    {
        carried current;
        for (const auto& key : keys)
            current.asked.insert(own->gathered.extract(key));
        auto values = co_await own->send(std::move(keys));
        for (auto& [key, value] : values)
            if (const auto found = current.asked.find(key); found != current.asked.end())
                found->second->value = std::move(value);
    }

    std::shared_ptr<shared> shared_;
    std::chrono::milliseconds timeout_;
    batcher<Key, void> batches_;
};

} // namespace tempinbox::async
