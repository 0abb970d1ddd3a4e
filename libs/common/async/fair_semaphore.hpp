#pragma once

#include "common/async/fair_queue.hpp"
#include "common/async/reset_event.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace tempinbox::async {

// Permits for work of which little may be under way at once. Keys, such as accounts, take turns,
// and one key has a bounded number of the permits: whoever asks for many delays another key by one.
// Used on one loop.
template <class Key>
class fair_semaphore
{
    struct state;

public:
    // One permit; its end gives it back.
    class permit
    {
    public:
        permit(std::shared_ptr<state> of, Key key) : state_(std::move(of)), key_(std::move(key)) {}
        permit(permit&&) noexcept = default;
        ~permit()
        {
            if (state_)
                state_->give_back(key_);
        }

    private:
        std::shared_ptr<state> state_;
        Key key_;
    };

    fair_semaphore(boost::asio::any_io_executor loop, std::size_t permits, std::size_t max_per_key)
        : state_(std::make_shared<state>(std::move(loop), permits, max_per_key))
    {}
    fair_semaphore(const fair_semaphore&) = delete;

    // Waits for the key's turn; absent if the deadline passed first.
    awaitable<std::optional<permit>> acquire(Key key, deadline until)
    {
        return state::acquire(state_, std::move(key), until);
    }

    // Whether somebody waits for the key's turn, or did until its deadline passed.
    bool has_waiter(const Key& key) const { return state_->waiting.contains(key); }

private:
    struct waiter
    {
        Key key;
        reset_event admitted;
        std::optional<permit> taken; // given back with the waiter, if it left meanwhile
        bool has_left = false;

        waiter(Key whose, const boost::asio::any_io_executor& loop)
            : key(std::move(whose)),
              admitted(loop)
        {}
    };

    // Kept alive by its permits and by those that wait.
    struct state : std::enable_shared_from_this<state>
    {
        boost::asio::any_io_executor loop;
        std::size_t free;
        const std::size_t max_per_key;
        fair_queue<Key, std::shared_ptr<waiter>> waiting;
        std::map<Key, std::size_t> taken; // no key without a permit is in it

        state(boost::asio::any_io_executor where, std::size_t permits, std::size_t of_one_key)
            : loop(std::move(where)),
              free(permits),
              max_per_key(of_one_key)
        {}

        static awaitable<std::optional<permit>> acquire(std::shared_ptr<state> self, Key key,
                                                        deadline until)
        {
            const auto mine = std::make_shared<waiter>(key, self->loop);
            self->waiting.push(std::move(key), mine);
            self->admit();
            co_await mine->admitted.wait_until(until);
            mine->has_left = true;
            co_return std::move(mine->taken);
        }

        // Those whose key has all its permits are passed over.
        void admit()
        {
            std::size_t passed = 0;
            while (free > 0 && passed < waiting.keys()) {
                const auto next = waiting.front();
                const auto found = taken.find(next->key);
                if (!next->has_left && found != taken.end() && found->second >= max_per_key) {
                    waiting.pass();
                    ++passed;
                    continue;
                }
                waiting.pop();
                passed = 0;
                if (next->has_left)
                    continue;
                --free;
                ++taken[next->key];
                next->taken.emplace(this->shared_from_this(), next->key);
                next->admitted.set();
            }
        }

        void give_back(const Key& key)
        {
            ++free;
            const auto found = taken.find(key);
            if (--found->second == 0)
                taken.erase(found);
            admit();
        }
    };

    std::shared_ptr<state> state_;
};

} // namespace tempinbox::async
