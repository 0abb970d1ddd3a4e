#include "common/kafka/consumer.hpp"

#include "common/core/exception_text.hpp"
#include "common/kafka/consumer_state.hpp"
#include "common/kafka/names.hpp"
#include "common/log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::kafka {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

} // namespace

void running_batch::finish(phase outcome)
{
    {
        const std::lock_guard lock(mutex_);
        now_ = outcome;
    }
    changed_.notify_all();
}

running_batch::phase running_batch::wait(std::chrono::milliseconds timeout)
{
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return now_ != phase::running; });
    return now_;
}

consumer::state::state(runtime::host& where, consumer_settings given, batch_handler handler)
    : host(where),
      settings(std::move(given)),
      group(prefixed(settings.cluster, settings.group)),
      handle(std::move(handler)),
      completions(where.loop()),
      stopped(where.loop()),
      can_handle(where.executor(), async::reset_event::mode::automatic),
      watch(where),
      clients(where, settings.cluster,
              [this](const kafka::settings& now) { return make_client(now); }),
      oldest_age(where.metrics().gauge("tempinbox_consumer_oldest_age_seconds",
                                       "Age of the oldest record that is not handled yet",
                                       {{"group", group}})),
      rebalances(where.metrics().counter("tempinbox_consumer_rebalances_total",
                                         "Times that the member was assigned other partitions",
                                         {{"group", group}})),
      assigned_partitions(where.metrics().gauge("tempinbox_consumer_assigned_partitions",
                                                "Partitions that the member reads",
                                                {{"group", group}}))
{
    can_handle.set();
}

void consumer::state::open()
{
    client = clients.start();
    subscribe();
}

client_handle consumer::state::make_client(const kafka::settings& now)
{
    configuration conf(now, host.name());
    conf.set("group.id", group);
    // All members of a group must agree on it, and those of 0.2.0 assign by range; a killed member
    // costs more by it, one that joins less (decision 0037).
    conf.set("partition.assignment.strategy", "range");
    conf.set("enable.auto.commit", "false");
    conf.set("enable.auto.offset.store", "false");
    conf.set("auto.offset.reset", "earliest");
    // A member that was killed loses its partitions after this time.
    conf.suggest("session.timeout.ms", "10000");
    // A member learns by its heartbeat that another joined or left, and the group waits for all of
    // them: this is about how long reading pauses then.
    conf.suggest("heartbeat.interval.ms", "500");
    conf.suggest("fetch.error.backoff.ms", "100");
    // Bounds what is read ahead of the handler.
    conf.suggest("queued.min.messages", "10000");
    conf.suggest("queued.max.messages.kbytes", "16384");
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_rebalance_cb(conf.get(), &state::rebalance);
    rd_kafka_conf_set_offset_commit_cb(conf.get(), &state::committed);
    rd_kafka_conf_set_error_cb(conf.get(), [](rd_kafka_t*, int error, const char* reason,
                                              void* self) {
        static_cast<state*>(self)->watch.on_error(static_cast<rd_kafka_resp_err_t>(error), reason);
    });
    auto made = conf.make(RD_KAFKA_CONSUMER);
    rd_kafka_poll_set_consumer(made.get());
    return made;
}

void consumer::state::subscribe()
{
    const partition_list topics(
        rd_kafka_topic_partition_list_new(static_cast<int>(settings.topics.size())));
    for (const auto& topic : settings.topics)
        add_to(topics, settings.cluster, {topic, RD_KAFKA_PARTITION_UA});
    const auto error = rd_kafka_subscribe(client.get(), topics.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        throw std::runtime_error("cannot subscribe to kafka topics: " +
                                 std::string(rd_kafka_err2str(error)));
}

void consumer::state::run()
{
    while (!is_stopping) {
        if (auto next = clients.take(client.get()))
            replace_client(std::move(next));
        pause_partitions(is_pause_requested);
        auto batch = read_batch();
        if (!batch.empty())
            work_on(std::move(batch));
        commit_in_background();
        measure();
        watch.check(client.get());
    }
    leave();
}

// No batch is running: what was handled is committed, what was only read is read again.
void consumer::state::replace_client(client_handle next)
{
    commit_now();
    rd_kafka_consumer_close(client.get());
    client = std::move(next);
    subscribe();
}

void consumer::state::leave()
{
    commit_now();
    rd_kafka_consumer_close(client.get());
    client.reset();
    completions.push([self = shared_from_this()] {
        self->has_stopped = true;
        self->stopped.cancel();
    });
}

// Reads what has arrived, at most the limit; waits for the first record only.
std::vector<record> consumer::state::read_batch()
{
    constexpr int timeout_millis = 100;
    if (is_pause_requested) {
        read_while_paused();
        return {};
    }
    while (read_ahead.size() < settings.batch_limit) {
        const message_handle message(
            rd_kafka_consumer_poll(client.get(), read_ahead.empty() ? timeout_millis : 0));
        if (!message)
            break;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            take(*message);
        else
            log::warning("cannot read from kafka",
                         {{"group", group}, {"reason", rd_kafka_message_errstr(message.get())}});
    }
    // A pause was requested meanwhile: the records wait in read_ahead.
    return is_pause_requested ? std::vector<record>() : std::exchange(read_ahead, {});
}

void consumer::state::take(const rd_kafka_message_t& message)
{
    read_ahead.push_back(read_record(settings.cluster, message));
    lag.note_read(read_ahead.back(), steady::now());
}

// Keeps the membership alive (max.poll.interval.ms) and serves rebalances.
void consumer::state::read_while_paused()
{
    constexpr int timeout_millis = 50;
    const message_handle message(rd_kafka_consumer_poll(client.get(), timeout_millis));
    if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        take(*message);
    // Pauses partitions that were assigned meanwhile.
    pause_partitions(true);
}

// Passes a batch to the loop until it is handled, its partitions are revoked or the consumer stops.
void consumer::state::work_on(std::vector<record> records)
{
    const auto ours = revocations;
    const auto began = steady::now();
    running = std::make_shared<running_batch>(std::move(records));
    for (bool is_settled = false; !is_settled;) {
        dispatch();
        const auto phase = wait_for_running(ours);
        observe(running->records(), steady::now() - began, phase == running_batch::phase::done);
        if (phase == running_batch::phase::done && revocations == ours)
            note_handled(running->records());
        is_settled = phase != running_batch::phase::failed || is_stopping || revocations != ours;
        // A batch that fails for long does not hold up a new client, which reads it again.
        const auto next_try = steady::now() + settings.retry_delay;
        while (!is_settled && steady::now() < next_try) {
            pause_partitions(true);
            read_while_paused();
            measure();
            is_settled = is_stopping || revocations != ours || clients.is_due();
        }
        if (!is_settled)
            running = std::make_shared<running_batch>(running->records());
    }
    running.reset();
    pause_partitions(is_pause_requested);
}

void consumer::state::dispatch()
{
    completions.push([self = shared_from_this(), batch = running] {
        asio::co_spawn(self->host.loop(), handle_alone(self, batch),
                       [self, batch](const std::exception_ptr& error) {
                           self->can_handle.set();
                           if (error)
                               log::error("events not handled, they will be tried again",
                                          {{"group", self->group},
                                           {"records", batch->records().size()},
                                           {"reason", text_of(error)}});
                           batch->finish(error ? running_batch::phase::failed
                                               : running_batch::phase::done);
                       });
    });
}

awaitable<void> consumer::state::handle_alone(std::shared_ptr<state> self,
                                              std::shared_ptr<running_batch> batch)
{
    co_await self->can_handle.wait();
    if (!self->is_abandoned)
        co_await self->handle(batch->records());
}

running_batch::phase consumer::state::wait_for_running(std::uint64_t ours)
{
    // Pausing discards what was read ahead, so only batches that take long pause the partitions.
    auto phase = running->wait(1s);
    while (phase == running_batch::phase::running && !is_abandoned && revocations == ours) {
        pause_partitions(true);
        read_while_paused();
        measure();
        phase = running->wait(1ms);
    }
    return phase;
}

void consumer::state::pause_partitions(bool paused)
{
    if (paused == is_paused)
        return;
    rd_kafka_topic_partition_list_t* raw = nullptr;
    if (rd_kafka_assignment(client.get(), &raw) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    const partition_list partitions(raw);
    if (paused)
        rd_kafka_pause_partitions(client.get(), partitions.get());
    else
        rd_kafka_resume_partitions(client.get(), partitions.get());
    is_paused = paused;
}

consumer::consumer(runtime::host& host, consumer_settings settings, batch_handler handle)
    : state_(std::make_shared<state>(host, std::move(settings), std::move(handle)))
{}

consumer::~consumer()
{
    state_->clients.stop();
    state_->is_abandoned = true;
    state_->is_stopping = true;
    if (state_->poller.joinable())
        state_->poller.join();
}

void consumer::start()
{
    state_->open();
    state_->poller = std::thread([me = state_.get()] { me->run(); });
}

awaitable<void> consumer::stop()
{
    const auto self = state_;
    self->clients.stop();
    self->is_stopping = true;
    while (self->poller.joinable() && !self->has_stopped) {
        self->stopped.expires_after(1s);
        co_await self->stopped.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (self->poller.joinable())
        self->poller.join();
    // A batch whose partitions were lost may still be handled.
    co_await self->can_handle.wait();
    self->can_handle.set();
}

void consumer::pause()
{
    state_->is_pause_requested = true;
}

void consumer::resume()
{
    state_->is_pause_requested = false;
}

} // namespace tempinbox::kafka
