#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/crypto/password.hpp"
#include "common/runtime/completion_queue.hpp"
#include "common/runtime/host.hpp"

#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace tempinbox::gateway {

// Computes password hashes off the loop: two at once, because each takes 64 MiB and a processor,
// with a bounded queue. Past the bound it fails with `unavailable`. Owns its threads.
class password_hasher
{
public:
    static constexpr std::size_t threads = 2;
    static constexpr std::size_t max_queued = 32;

    explicit password_hasher(runtime::host& host, crypto::password_cost cost = {});
    ~password_hasher();
    password_hasher(const password_hasher&) = delete;

    awaitable<result<std::string>> hash(secret password);
    // An empty hash, for an unknown user, matches nothing and takes as long as any other.
    awaitable<result<bool>> matches(std::string hash, secret password);

    // Waits for the computations under way (blocking, short).
    void stop();

private:
    template <class T>
    awaitable<result<T>> compute(std::function<T()> work);

    runtime::host& host_;
    crypto::password_cost cost_;
    std::string nobodys_hash_;
    std::shared_ptr<std::size_t> under_way_ = std::make_shared<std::size_t>(0);
    runtime::completion_queue completions_;
    boost::asio::thread_pool pool_{threads};
};

} // namespace tempinbox::gateway
