#include "mail-ingest/ingest/mail_readers.hpp"

#include "common/async/thread_priority.hpp"
#include "common/core/network.hpp"

#include <algorithm>

namespace tempinbox::mail_ingest {
namespace {

// Enough for the loop to come first; every reply waits for these threads, too, and at 10 a machine
// that is busy with other things would hardly let them run.
constexpr int nice_increment = 5;

constexpr std::uint64_t max_small_bytes = 8 * 1024;
constexpr auto max_small_cpu = std::chrono::microseconds(400); // usual ones take 50 to 100
constexpr auto slow_period = std::chrono::seconds(30);
constexpr std::size_t max_slow_clients = 10'000;

std::string prefix_of(std::string_view client)
{
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(client, error);
    return error ? std::string(client) : client_prefix(address);
}

} // namespace

mail_readers::mail_readers(boost::asio::any_io_executor loop, std::size_t threads,
                           std::size_t max_messages)
    : threads_(std::move(loop), threads, std::max<std::size_t>(1, threads - 1),
               {max_messages, std::max<std::size_t>(1, max_messages / 4)})
{}

bool mail_readers::may_read_on_loop(std::string_view client, std::uint64_t bytes,
                                    std::chrono::steady_clock::time_point now) const
{
    // With so many slow addresses any other may be one.
    if (bytes > max_small_bytes || slow_until_.size() >= max_slow_clients)
        return false;
    const auto slow = slow_until_.empty() ? slow_until_.end() : slow_until_.find(prefix_of(client));
    return slow == slow_until_.end() || slow->second <= now;
}

void mail_readers::note(std::string_view client, std::uint64_t bytes,
                        std::chrono::nanoseconds taken, std::chrono::steady_clock::time_point now)
{
    if (slow_until_.size() >= max_slow_clients)
        std::erase_if(slow_until_, [&](const auto& entry) { return entry.second <= now; });
    if (bytes <= max_small_bytes && taken > max_small_cpu && slow_until_.size() < max_slow_clients)
        slow_until_[prefix_of(client)] = now + slow_period;
}

bool mail_readers::has_room(std::string_view client) const
{
    return threads_.has_room(prefix_of(client));
}

awaitable<bool> mail_readers::run(std::string_view client, std::function<void()> job,
                                  async::deadline until)
{
    return threads_.run(
        prefix_of(client),
        [job = std::move(job)] {
            async::lower_thread_priority(nice_increment);
            job();
        },
        until);
}

} // namespace tempinbox::mail_ingest
