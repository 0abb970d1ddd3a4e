#pragma once

#include "common/async/reset_event.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tempinbox::async {

struct flight_policy
{
    std::chrono::milliseconds timeout{0}; // of whoever asks; 0: none
    // A look-up that began longer ago is not joined: its value may be too old. 0: joined to its
    // end.
    std::chrono::milliseconds joinable_for{0};
};

// Equal look-ups at the same time share one. Its value, or what it throws, goes to everyone who
// asked; nothing is kept after its end. Used on one loop; what the look-up uses must outlive it.
template <class Key, class Value>
class single_flight
{
public:
    using look_up = std::function<awaitable<Value>(Key)>;

    single_flight(boost::asio::any_io_executor executor, const flight_policy& policy, look_up find)
        : state_(std::make_shared<state>(std::move(executor), policy, std::move(find)))
    {}
    single_flight(const single_flight&) = delete;

    // nullopt past the timeout; the look-up goes on for the others.
    awaitable<std::optional<Value>> ask(Key key) { return state::ask(state_, std::move(key)); }
    // Waits for the look-ups under way, also for those that nobody waits for any more: what they
    // use may end afterwards. Nobody asks meanwhile.
    awaitable<void> stop() { return state::stop(state_); }

private:
    using steady = std::chrono::steady_clock;

    struct flight
    {
        steady::time_point began = steady::now();
        reset_event done;
        std::optional<Value> value;
        std::exception_ptr error;

        explicit flight(const boost::asio::any_io_executor& executor) : done(executor) {}
    };

    // Kept alive by its coroutines.
    struct state
    {
        boost::asio::any_io_executor executor;
        const flight_policy policy;
        look_up find;
        std::unordered_map<Key, std::shared_ptr<flight>> in_flight;
        std::size_t under_way = 0; // also those that a younger one took the place of
        reset_event all_ended;

        state(boost::asio::any_io_executor where, const flight_policy& chosen, look_up given)
            : executor(where),
              policy(chosen),
              find(std::move(given)),
              all_ended(std::move(where))
        {
            all_ended.set();
        }

        static awaitable<void> stop(std::shared_ptr<state> self)
        {
            co_await self->all_ended.wait();
        }

        static awaitable<std::optional<Value>> ask(std::shared_ptr<state> self, Key key)
        {
            const auto mine = join_or_begin(self, std::move(key));
            const auto timeout = self->policy.timeout;
            co_await mine->done.wait_until(timeout.count() > 0 ? deadline::after(timeout)
                                                               : deadline::never());
            if (mine->error)
                std::rethrow_exception(mine->error);
            co_return mine->value;
        }

        static std::shared_ptr<flight> join_or_begin(const std::shared_ptr<state>& self, Key key)
        {
            const auto joinable_for = self->policy.joinable_for;
            auto& current = self->in_flight[key];
            if (current &&
                (joinable_for.count() == 0 || steady::now() - current->began < joinable_for))
                return current;
            const auto fresh = std::make_shared<flight>(self->executor);
            current = fresh;
            ++self->under_way;
            self->all_ended.reset();
            boost::asio::co_spawn(self->executor, run(self, std::move(key), fresh),
                                  boost::asio::detached);
            return fresh;
        }

        static awaitable<void> run(std::shared_ptr<state> self, Key key,
                                   std::shared_ptr<flight> mine)
        {
            try {
                mine->value = co_await self->find(key);
            } catch (...) {
                mine->error = std::current_exception();
            }
            // A younger look-up may have taken its place.
            if (const auto found = self->in_flight.find(key);
                found != self->in_flight.end() && found->second == mine)
                self->in_flight.erase(found);
            mine->done.set();
            if (--self->under_way == 0)
                self->all_ended.set();
        }
    };

    std::shared_ptr<state> state_;
};

} // namespace tempinbox::async
