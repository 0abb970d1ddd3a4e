#pragma once

#include "common/async/fair_pool.hpp"
#include "common/core/awaitable.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// The threads on which all but small messages are read: whoever sends one decides how long that
// takes, and it would hold up the loop. They have a low priority. Client addresses take turns
// (IPv4, or the /64 of IPv6), and one of them has at most one thread less than there are, so that
// another's messages wait for none of it. Messages that wait or are read are bounded, of one
// address to a quarter.
class mail_readers
{
public:
    mail_readers(boost::asio::any_io_executor loop, std::size_t threads, std::size_t max_messages);

    // Whether one more message of the address would be within the bounds.
    bool has_room(std::string_view client) const;
    // False if there is no room, or if its turn has not come by the deadline: then it is never run.
    awaitable<bool> run(std::string_view client, std::function<void()> job, async::deadline until);

    // Takes no more, and waits for those under way.
    void stop() { threads_.stop(); }

private:
    async::fair_pool<std::string> threads_; // by client_prefix
};

} // namespace tempinbox::mail_ingest
