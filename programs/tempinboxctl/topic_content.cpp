#include "tempinboxctl/topic_content.hpp"

#include "common/kafka/consumer.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <utility>

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

// The messages under way in one attempt to write them.
struct attempt
{
    std::size_t open = 0;
    std::vector<kafka::message> unacknowledged;
    bool is_refused = false; // a message that no attempt can send, such as one that is too large
};

// Sends every message and waits until each has its outcome. Past the deadline the outcomes of some
// may be unknown: `open` counts them.
awaitable<std::shared_ptr<attempt>> send_once(runtime::host& host, kafka::producer& producer,
                                              std::vector<kafka::message> messages,
                                              steady::time_point deadline)
{
    const auto sent = std::make_shared<attempt>();
    // The producer's queue is bounded: a further message waits until a part of it is sent.
    const std::function<bool()> has_room = [sent] { return sent->open < 1'000; };
    const std::function<bool()> is_done = [sent] { return sent->open == 0; };
    for (auto& message : messages) {
        co_await wait_until(host, has_room, deadline);
        ++sent->open;
        auto copy = message;
        const bool is_taken = producer.send(
            std::move(copy), [sent, message = std::move(message)](bool acknowledged) mutable {
                --sent->open;
                if (!acknowledged)
                    sent->unacknowledged.push_back(std::move(message));
            });
        if (!is_taken) {
            --sent->open;
            sent->is_refused = true;
        }
    }
    co_await wait_until(host, is_done, deadline);
    co_return sent;
}

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

awaitable<result<std::size_t>> write_messages(runtime::host& host, kafka::settings cluster,
                                              std::vector<kafka::message> messages,
                                              std::chrono::milliseconds timeout)
{
    kafka::producer producer(host, cluster);
    co_return co_await write_messages(host, producer, std::move(messages), timeout);
}

awaitable<result<std::size_t>> write_messages(runtime::host& host, kafka::producer& producer,
                                              std::vector<kafka::message> messages,
                                              std::chrono::milliseconds timeout)
{
    const auto deadline = steady::now() + timeout;
    std::size_t sent_again = 0;
    while (true) {
        const auto sent = co_await send_once(host, producer, std::move(messages), deadline);
        const bool is_known = !sent->is_refused && sent->open == 0;
        if (is_known && sent->unacknowledged.empty())
            co_return sent_again;
        if (!is_known || steady::now() >= deadline)
            co_return failure(errc::unavailable,
                              "Kafka did not acknowledge every message; those it acknowledged are "
                              "in their topics, sending all again does no harm");
        messages = std::exchange(sent->unacknowledged, {});
        sent_again += messages.size();
    }
}

} // namespace tempinbox::ctl
