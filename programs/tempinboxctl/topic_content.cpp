#include "tempinboxctl/topic_content.hpp"

#include "common/kafka/consumer.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>

namespace tempinbox::ctl {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll_interval{20};

// Polls until the condition holds; false if the deadline passes first.
awaitable<bool> wait_until(runtime::host& host, std::function<bool()> holds,
                           steady::time_point deadline)
{
    boost::asio::steady_timer timer(host.executor());
    while (!holds() && steady::now() < deadline) {
        timer.expires_after(poll_interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
    co_return holds();
}

struct sent_count
{
    std::size_t open = 0;
    std::size_t refused = 0;
};

} // namespace

awaitable<result<std::vector<kafka::record>>> read_topics_whole(runtime::host& host,
                                                                kafka::settings cluster,
                                                                std::vector<std::string> topics,
                                                                std::chrono::milliseconds timeout)
{
    std::vector<kafka::record> found;
    const auto deadline = steady::now() + timeout;
    kafka::broadcast_reader reader(
        host, std::move(cluster), std::move(topics),
        [&found](const std::vector<kafka::record>& batch) {
            found.insert(found.end(), batch.begin(), batch.end());
        },
        true);
    reader.start();
    std::function<bool()> is_current = [&reader] { return reader.is_current(); };
    const bool is_whole = co_await wait_until(host, std::move(is_current), deadline);
    reader.stop();
    if (!is_whole)
        co_return failure(errc::unavailable, "Kafka does not answer, or a topic is missing");
    co_return found;
}

awaitable<result<void>> write_messages(runtime::host& host, kafka::settings cluster,
                                       std::vector<kafka::message> messages,
                                       std::chrono::milliseconds timeout)
{
    kafka::producer producer(host, cluster);
    co_return co_await write_messages(host, producer, std::move(messages), timeout);
}

awaitable<result<void>> write_messages(runtime::host& host, kafka::producer& producer,
                                       std::vector<kafka::message> messages,
                                       std::chrono::milliseconds timeout)
{
    const auto deadline = steady::now() + timeout;
    const auto count = std::make_shared<sent_count>();
    for (auto& message : messages) {
        ++count->open;
        kafka::producer::outcome_handler on_outcome = [count](bool acknowledged) {
            --count->open;
            count->refused += acknowledged ? 0 : 1;
        };
        // The producer's queue is bounded: wait until part of it is sent.
        std::function<bool()> has_room = [count] { return count->open < 1'000; };
        co_await wait_until(host, std::move(has_room), deadline);
        if (!producer.send(std::move(message), std::move(on_outcome))) {
            --count->open;
            ++count->refused;
        }
    }
    std::function<bool()> is_done = [count] { return count->open == 0; };
    const bool are_taken = co_await wait_until(host, std::move(is_done), deadline);
    if (!are_taken || count->refused != 0)
        co_return failure(errc::unavailable,
                          "Kafka did not acknowledge every message; those it acknowledged are in "
                          "their topics, sending all again does no harm");
    co_return result<void>();
}

} // namespace tempinbox::ctl
