#include "gateway/access/password_hasher.hpp"

#include "common/async/reset_event.hpp"
#include "common/crypto/digest.hpp"

#include <boost/asio/post.hpp>

#include <memory>
#include <optional>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

// Far longer than a full queue needs.
constexpr auto hash_timeout = 60s;

template <class T>
struct computation
{
    explicit computation(const boost::asio::any_io_executor& executor) : done(executor) {}

    std::optional<T> outcome;
    std::exception_ptr error;
    async::reset_event done;
};

} // namespace

password_hasher::password_hasher(runtime::host& host, crypto::password_cost cost)
    : host_(host),
      cost_(cost),
      nobodys_hash_(crypto::hash_password(secret(crypto::random_bytes(16)), cost)),
      completions_(host.loop())
{}

password_hasher::~password_hasher()
{
    stop();
}

void password_hasher::stop()
{
    pool_.join();
}

awaitable<result<std::string>> password_hasher::hash(secret password)
{
    return compute<std::string>(
        [password, cost = cost_] { return crypto::hash_password(password, cost); });
}

awaitable<result<bool>> password_hasher::matches(std::string hash, secret password)
{
    const bool is_known = !hash.empty();
    auto compared = is_known ? std::move(hash) : nobodys_hash_;
    return compute<bool>([is_known, password, compared] {
        return crypto::password_matches(compared, password) && is_known;
    });
}

template <class T>
awaitable<result<T>> password_hasher::compute(std::function<T()> work)
{
    if (*under_way_ >= threads + max_queued)
        co_return failure{errc::unavailable, "Too many sign-ins at once; try again",
                          error_reason::busy};
    const auto task = std::make_shared<computation<T>>(host_.executor());
    ++*under_way_;
    boost::asio::post(pool_, [this, task, work = std::move(work)] {
        try {
            task->outcome.emplace(work());
        } catch (...) {
            // From the worker thread to whoever waits on the loop.
            task->error = std::current_exception();
        }
        completions_.push([task, count = under_way_] {
            --*count;
            task->done.set();
        });
    });
    if (!co_await task->done.wait_until(std::chrono::steady_clock::now() + hash_timeout))
        co_return failure{errc::unavailable, "Sign-in takes too long now; try again",
                          error_reason::busy};
    if (task->error)
        std::rethrow_exception(task->error);
    co_return std::move(*task->outcome);
}

} // namespace tempinbox::gateway
