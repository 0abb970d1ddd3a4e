#pragma once

#include "common/async/fair_pool.hpp"
#include "common/core/awaitable.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tempinbox::mail_ingest {

// Where messages are read. Whoever sends one decides how long that takes, and it would hold up the
// loop: so it has threads, of low priority. The loop reads small messages alone, which take less
// time to read than to pass to a thread and back, and none of an address that has lately sent a
// small one that took long. Client addresses take turns
// (IPv4, or the /64 of IPv6), and one of them has at most one thread less than there are, so that
// another's messages wait for none of it. Messages that wait or are read are bounded, of one
// address to a quarter.
class mail_readers
{
public:
    mail_readers(boost::asio::any_io_executor loop, std::size_t threads, std::size_t max_messages);

    bool may_read_on_loop(std::string_view client, std::uint64_t bytes,
                          std::chrono::steady_clock::time_point now) const;
    // Notes the CPU time that reading a message of the address took, on the loop or a thread.
    void note(std::string_view client, std::uint64_t bytes, std::chrono::nanoseconds taken,
              std::chrono::steady_clock::time_point now);

    // Whether one more message of the address would be within the bounds.
    bool has_room(std::string_view client) const;
    // False if there is no room, or if its turn has not come by the deadline: then it is never run.
    awaitable<bool> run(std::string_view client, std::function<void()> job, async::deadline until);

    // Takes no more, and waits for those under way.
    void stop() { threads_.stop(); }

private:
    async::fair_pool<std::string> threads_; // by client_prefix
    // Until when the small messages of an address are read on the threads, by client_prefix.
    std::unordered_map<std::string, std::chrono::steady_clock::time_point> slow_until_;
};

} // namespace tempinbox::mail_ingest
