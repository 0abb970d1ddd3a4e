#pragma once

#include "common/async/fair_queue.hpp"
#include "common/async/reset_event.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace tempinbox::async {

// How many jobs wait or are run, as long as somebody waits for them: in all, and of one key.
struct job_bounds
{
    std::size_t jobs = std::numeric_limits<std::size_t>::max();
    std::size_t jobs_per_key = std::numeric_limits<std::size_t>::max();
};

// Threads for jobs that would hold the loop too long. Keys, such as accounts, take turns, and one
// key has a bounded number of the threads: however many jobs it adds, another's next job waits for
// one of each key before it, not for all of them. Used on one loop, which outlives it.
template <class Key>
class fair_pool
{
public:
    // `max_per_key`: threads that one key has at most, even if the others are idle.
    fair_pool(boost::asio::any_io_executor loop, std::size_t threads, std::size_t max_per_key,
              job_bounds bounds = {})
        : state_(std::make_shared<state>(std::move(loop), threads, max_per_key, bounds)),
          threads_(threads)
    {
        state_->threads = &threads_;
    }
    ~fair_pool() { stop(); }
    fair_pool(const fair_pool&) = delete;

    // Whether a job of the key would be within the bounds.
    bool has_room(const Key& key) const { return state_->has_room(key); }

    // Runs the job on a thread in its key's turn, and rethrows what it throws. False if there is no
    // room, or if the deadline passed first: a job that has not begun is never run, one that has
    // ends on its own. So a job owns what it uses; it is destroyed on the loop, by stop() at the
    // latest.
    awaitable<bool> run(Key key, std::function<void()> job, deadline until)
    {
        return state::run(state_, std::move(key), std::move(job), until);
    }

    // Takes no more jobs, drops those that have not begun, and joins the threads. No job is left
    // afterwards, so what jobs refer to need only outlive this.
    void stop()
    {
        state_->drop_waiting();
        threads_.join();
        state_->drop_begun();
    }

private:
    struct task
    {
        Key key;
        std::function<void()> job;
        std::exception_ptr error;
        bool has_begun = false;
        bool has_ended = false;
        reset_event done;

        task(Key whose, std::function<void()> what, const boost::asio::any_io_executor& loop)
            : key(std::move(whose)),
              job(std::move(what)),
              done(loop)
        {}
    };

    struct state;

    // A job, as long as somebody waits for it.
    class counted_job
    {
    public:
        counted_job(state& in, Key key) : in_(in), key_(std::move(key))
        {
            ++in_.jobs;
            ++in_.jobs_of_keys[key_];
        }
        ~counted_job()
        {
            --in_.jobs;
            const auto mine = in_.jobs_of_keys.find(key_);
            if (--mine->second == 0)
                in_.jobs_of_keys.erase(mine);
        }
        counted_job(const counted_job&) = delete;

    private:
        state& in_;
        Key key_;
    };

    // Kept alive by its coroutines and by the jobs on the threads.
    struct state : std::enable_shared_from_this<state>
    {
        boost::asio::any_io_executor loop;
        std::size_t free;
        const std::size_t max_per_key;
        boost::asio::thread_pool* threads = nullptr; // null once stopped
        fair_queue<Key, std::shared_ptr<task>> waiting;
        std::map<Key, std::size_t> running; // no key without a thread is in it
        std::set<std::shared_ptr<task>> begun;
        const job_bounds bounds;
        std::size_t jobs = 0;
        std::map<Key, std::size_t> jobs_of_keys; // no key without a job is in it

        state(boost::asio::any_io_executor where, std::size_t count, std::size_t of_one_key,
              job_bounds allowed)
            : loop(std::move(where)),
              free(count),
              max_per_key(of_one_key),
              bounds(allowed)
        {}

        bool has_room(const Key& key) const
        {
            const auto mine = jobs_of_keys.find(key);
            return jobs < bounds.jobs &&
                   (mine == jobs_of_keys.end() ? 0 : mine->second) < bounds.jobs_per_key;
        }

        static awaitable<bool> run(std::shared_ptr<state> self, Key key, std::function<void()> job,
                                   deadline until)
        {
            if (!self->threads || !self->has_room(key))
                co_return false;
            const counted_job counted(*self, key);
            const auto mine = std::make_shared<task>(key, std::move(job), self->loop);
            self->waiting.push(std::move(key), mine);
            self->begin_waiting();
            if (!co_await mine->done.wait_until(until)) {
                if (!mine->has_begun)
                    mine->job = nullptr; // frees what it holds before its turn comes
                co_return false;
            }
            if (mine->error)
                std::rethrow_exception(mine->error);
            co_return mine->has_ended;
        }

        // Those whose key has all its threads are passed over.
        void begin_waiting()
        {
            std::size_t passed = 0;
            while (free > 0 && passed < waiting.keys()) {
                const auto next = waiting.front();
                const auto found = running.find(next->key);
                if (found != running.end() && found->second >= max_per_key) {
                    waiting.pass();
                    ++passed;
                    continue;
                }
                waiting.pop();
                passed = 0;
                if (next->job)
                    begin(next);
            }
        }

        void begin(const std::shared_ptr<task>& next)
        {
            next->has_begun = true;
            --free;
            ++running[next->key];
            begun.insert(next);
            boost::asio::post(*threads, [self = this->shared_from_this(), mine = next]() mutable {
                try {
                    mine->job();
                } catch (...) {
                    // From the thread to whoever waits on the loop.
                    mine->error = std::current_exception();
                }
                const auto executor = self->loop;
                boost::asio::post(executor, [own = std::move(self), ended = std::move(mine)] {
                    own->end(ended);
                });
            });
        }

        void end(const std::shared_ptr<task>& ended)
        {
            ended->job = nullptr;
            ended->has_ended = true;
            ++free;
            begun.erase(ended);
            const auto found = running.find(ended->key);
            if (--found->second == 0)
                running.erase(found);
            ended->done.set();
            if (threads)
                begin_waiting();
        }

        void drop_waiting()
        {
            threads = nullptr;
            for (; !waiting.empty(); waiting.pop())
                waiting.front()->done.set();
        }

        // Once the threads have ended; the loop may come to end() later, or never.
        void drop_begun()
        {
            for (const auto& each : begun)
                each->job = nullptr;
        }
    };

    std::shared_ptr<state> state_;
    boost::asio::thread_pool threads_;
};

} // namespace tempinbox::async
