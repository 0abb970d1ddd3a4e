#include "webhook-dispatcher/events/dead_letters.hpp"

#include "common/async/wait_group.hpp"
#include "common/core/errors.hpp"

namespace tempinbox::webhooks {

struct dead_letters::batch
{
    explicit batch(boost::asio::any_io_executor executor) : open(executor) {}

    async::wait_group open;
    bool has_failed = false;
};

dead_letters::dead_letters(runtime::host& host, kafka::producer& producer)
    : host_(host),
      producer_(producer),
      count_(host.metrics().counter("tempinbox_webhook_dispatcher_dead_letters_total",
                                    "Events that could not be handled"))
{}

awaitable<void> dead_letters::send(std::vector<kafka::message> messages)
{
    const auto sent = std::make_shared<batch>(host_.executor());
    const auto count = messages.size();
    for (auto& message : messages)
        if (!publish(std::move(message), sent))
            sent->has_failed = true;
    co_await sent->open.wait();
    if (sent->has_failed)
        throw dependency_error("the broker did not acknowledge a dead letter");
    count_.Increment(static_cast<double>(count));
}

bool dead_letters::publish(kafka::message message, const std::shared_ptr<batch>& sent)
{
    sent->open.add();
    const bool is_queued = producer_.send(std::move(message), [sent](bool acknowledged) {
        sent->has_failed |= !acknowledged;
        sent->open.done();
    });
    if (!is_queued)
        sent->open.done();
    return is_queued;
}

} // namespace tempinbox::webhooks
