#include "common/async/batcher.hpp"
#include "common/async/task_metrics.hpp"
#include "common/log/log.hpp"
#include "common/outbox/outbox.hpp"
#include "common/outbox/outbox_repository.hpp"
#include "common/outbox/publish_linger.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::outbox {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr int claim_batch = 500;
constexpr std::size_t delete_batch = 1'000;
// Deletes are delayed so that one statement covers many rows; a lease is much longer.
constexpr async::batch_policy delete_policy{.max_items = delete_batch, .linger = 50ms};
constexpr auto delete_retry_delay = 1s;
// Acknowledged rows that could not be deleted yet; those past this number are left in the table,
// and a sweep publishes them once more.
constexpr std::size_t max_acknowledged = 100'000;
constexpr auto failure_delay = 5s;
constexpr auto measure_interval = 10s;

// The span of one publish of an event whose trace is sampled, as a part of the work that stored it;
// consumers go on from here, so the event names this span. Semantic conventions, "Messaging".
trace::span begin_send(runtime::host& host, const kafka::producer& producer, row& event)
{
    if (!host.tracer().is_on())
        return {};
    auto& headers = event.message.headers;
    const auto given = std::find_if(headers.begin(), headers.end(),
                                    [](const auto& one) { return one.first == "traceparent"; });
    const auto cause =
        given == headers.end() ? std::nullopt : trace::traceparent::parse(given->second);
    if (!cause || !cause->is_sampled())
        return {};
    auto span = host.tracer().begin("send", trace::span_kind::producer, *cause);
    // Consumers go on from here, whether or not the span is recorded.
    given->second = span.context().span.text();
    if (!span.is_recording())
        return span;
    const auto topic = producer.topic_name(event.message.topic);
    span.rename("send " + topic);
    span.set("messaging.system", "kafka");
    span.set("messaging.operation.name", "send");
    span.set("messaging.operation.type", "send");
    span.set("messaging.destination.name", topic);
    span.set("messaging.client.id", producer.client_name());
    span.set("messaging.message.id", event.id.text());
    return span;
}

} // namespace

// Everything runs on the loop; delivery reports and coroutines in progress keep it alive, but not
// the pool and the producer: once it is stopping, nothing may use them any more.
struct publisher::state : std::enable_shared_from_this<publisher::state>
{
    // Rows that were sent together.
    struct step
    {
        steady::time_point began = steady::now();
        std::size_t waiting = 0; // outcome not known
        std::size_t failed = 0;
    };

    state(runtime::host& where, postgres::pool& db, kafka::producer& sender,
          const std::string& schema_name, row_remover remover,
          std::chrono::milliseconds between_sweeps);

    void take(std::vector<row> committed, std::vector<kafka::message> hints);
    void publish();
    void send(row event, const std::shared_ptr<step>& part_of);
    void note(event_id id, bool acknowledged);
    void notify();
    awaitable<void> wait(asio::steady_timer& timer, steady::duration timeout);
    static awaitable<void> remove(std::shared_ptr<state> self, std::vector<event_id> ids);
    static awaitable<void> run_sweeper(std::shared_ptr<state> self);
    awaitable<steady::duration> sweep_once();
    awaitable<std::vector<row>> claim();
    awaitable<void> measure();

    runtime::host& host;
    kafka::producer& producer;
    outbox_repository outbox;
    const std::string schema;
    const std::chrono::milliseconds sweep_interval;
    std::vector<row> gathered; // for the next batch
    std::vector<kafka::message> gathered_hints;
    bool is_gathering = false;
    publish_linger linger{steady::now()};
    std::size_t under_way = 0; // sent, outcome not known
    bool is_draining = false;
    bool is_stopping = false;
    asio::steady_timer linger_timer;
    async::reset_event has_stopped;
    async::reset_event sweeper_ended; // or never began
    asio::steady_timer sweep_timer;
    asio::steady_timer drain_timer;
    steady::time_point next_measure;
    prometheus::Gauge& pending;
    prometheus::Gauge& oldest_age;
    prometheus::Counter& publishes;
    async::task_metrics sweeps;
    async::batcher<event_id, void> deletes; // ids of acknowledged rows
};

publisher::state::state(runtime::host& where, postgres::pool& db, kafka::producer& sender,
                        const std::string& schema_name, row_remover remover,
                        std::chrono::milliseconds between_sweeps)
    : host(where),
      producer(sender),
      outbox(db, schema_name, std::move(remover)),
      schema(schema_name),
      sweep_interval(between_sweeps),
      linger_timer(where.loop()),
      has_stopped(where.executor()),
      sweeper_ended(where.executor()),
      sweep_timer(where.loop()),
      drain_timer(where.loop()),
      pending(
          where.metrics().gauge("tempinbox_outbox_pending_events",
                                "Events not yet published and deleted, counted up to 100000; of "
                                "the whole schema",
                                {{"schema", schema}})),
      oldest_age(where.metrics().gauge("tempinbox_outbox_oldest_age_seconds",
                                       "Age of the oldest event in the outbox; of the whole schema",
                                       {{"schema", schema}})),
      publishes(where.metrics().counter("tempinbox_outbox_publishes_total",
                                        "Times that committed events were published to Kafka",
                                        {{"schema", schema}})),
      sweeps(where.metrics(), "sweep_outbox"),
      deletes(
          where.executor(), delete_policy, "published events not deleted",
          [this](std::vector<event_id> ids) { return remove(shared_from_this(), std::move(ids)); })
{}

void publisher::state::take(std::vector<row> committed, std::vector<kafka::message> hints)
{
    const bool is_allowed = linger.note_commit(committed.size(), steady::now());
    for (auto& one : committed)
        gathered.push_back(std::move(one));
    for (auto& one : hints)
        gathered_hints.push_back(std::move(one));
    if (is_gathering)
        return;
    if (is_allowed || is_draining)
        return publish();
    is_gathering = true;
    linger_timer.expires_after(linger.delay());
    linger_timer.async_wait(
        [self = shared_from_this()](const boost::system::error_code&) { self->publish(); });
}

void publisher::state::publish()
{
    is_gathering = false;
    if (gathered.empty())
        return;
    publishes.Increment();
    linger.note_publish(gathered.size(), steady::now());
    // First, since a broker takes the requests of a connection one after the other, and events make
    // one for each partition.
    for (auto& one : std::exchange(gathered_hints, {}))
        producer.send(std::move(one), [](bool) {});
    const auto current = std::make_shared<step>();
    for (auto& one : std::exchange(gathered, {}))
        send(std::move(one), current);
}

// An event that does not fit into the producer's queue is dropped: its lease ends and a sweep
// claims it.
void publisher::state::send(row event, const std::shared_ptr<step>& part_of)
{
    const auto id = event.id;
    auto span = begin_send(host, producer, event);
    // Without tracing there is nothing to share.
    const auto sending =
        span.is_recording() ? std::make_shared<trace::span>(std::move(span)) : nullptr;
    const bool is_queued =
        producer.send(std::move(event.message),
                      [self = shared_from_this(), part_of, sending, id](bool is_acknowledged) {
                          if (sending && !is_acknowledged)
                              sending->fail("not_acknowledged");
                          if (sending)
                              sending->end();
                          --self->under_way;
                          part_of->failed += is_acknowledged ? 0 : 1;
                          if (--part_of->waiting == 0)
                              self->linger.note_acknowledged(steady::now() - part_of->began);
                          self->note(id, is_acknowledged);
                      });
    if (sending && !is_queued)
        sending->fail("queue_full");
    if (is_queued)
        ++under_way;
    part_of->waiting += is_queued ? 1 : 0;
    part_of->failed += is_queued ? 0 : 1;
}

void publisher::state::note(event_id id, bool is_acknowledged)
{
    if (is_acknowledged && deletes.pending() < max_acknowledged)
        deletes.submit(id);
    notify();
}

void publisher::state::notify()
{
    if (under_way == 0) {
        sweep_timer.cancel();
        drain_timer.cancel();
    }
}

awaitable<void> publisher::state::wait(asio::steady_timer& timer, steady::duration timeout)
{
    timer.expires_after(timeout);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

awaitable<void> publisher::state::remove(std::shared_ptr<state> self, std::vector<event_id> ids)
{
    bool is_done = false;
    while (!is_done && !self->is_stopping) {
        try {
            auto again = co_await self->outbox.remove(ids, self->host.instance());
            is_done = true;
            if (!again.empty() && !self->is_stopping)
                self->take(std::move(again), {});
        } catch (const std::exception& error) {
            // The rows stay until this succeeds or their leases end.
            log::warning("published events not deleted yet",
                         {{"schema", self->schema}, {"reason", error.what()}});
        }
        if (!is_done)
            co_await self->has_stopped.wait_until(async::deadline::after(delete_retry_delay));
    }
}

awaitable<void> publisher::state::run_sweeper(std::shared_ptr<state> self)
{
    while (!self->is_stopping && !self->is_draining) {
        co_await self->measure();
        if (self->is_stopping || self->is_draining)
            break;
        const auto delay = co_await self->sweep_once();
        const auto until = steady::now() + delay;
        while (!self->is_stopping && !self->is_draining && steady::now() < until)
            co_await self->wait(self->sweep_timer, until - steady::now());
    }
    self->sweeper_ended.set();
}

// Claims one batch and waits for its outcomes before the next, so that an unreachable broker does
// not lead to claim after claim.
awaitable<steady::duration> publisher::state::sweep_once()
{
    auto rows = co_await claim();
    if (is_stopping) // their leases end, and a sweep claims them
        co_return sweep_interval;
    const bool is_full = rows.size() == static_cast<std::size_t>(claim_batch);
    const auto current = std::make_shared<step>();
    for (auto& one : rows)
        send(std::move(one), current);
    if (!rows.empty())
        log::info("outbox sweep claimed events", {{"schema", schema}, {"events", rows.size()}});
    while (current->waiting > 0 && !is_stopping)
        co_await wait(sweep_timer, 1s);
    if (current->failed > 0)
        co_return failure_delay;
    if (is_full)
        co_return steady::duration(0);
    co_return sweep_interval;
}

awaitable<std::vector<row>> publisher::state::claim()
{
    try {
        auto rows = co_await outbox.claim(host.instance(), claim_batch);
        sweeps.succeeded();
        co_return rows;
    } catch (const std::exception& error) {
        // The next sweep finds the same rows; publishing from memory goes on meanwhile.
        sweeps.failed();
        log::warning("outbox not swept", {{"schema", schema}, {"reason", error.what()}});
    }
    co_return std::vector<row>();
}

awaitable<void> publisher::state::measure()
{
    if (steady::now() < next_measure)
        co_return;
    next_measure = steady::now() + measure_interval;
    try {
        const auto found = co_await outbox.measure();
        pending.Set(static_cast<double>(found.rows));
        oldest_age.Set(found.oldest_seconds);
    } catch (const std::exception& error) {
        // A gauge is missed, which must not hold up the sweep.
        log::warning("outbox not measured", {{"schema", schema}, {"reason", error.what()}});
    }
}

publisher::publisher(runtime::host& host, postgres::pool& db, kafka::producer& producer,
                     std::string schema, row_remover remover,
                     std::chrono::milliseconds sweep_interval)
    : state_(
          std::make_shared<state>(host, db, producer, schema, std::move(remover), sweep_interval))
{
    state_->sweeper_ended.set();
}

publisher::~publisher()
{
    state_->is_stopping = true;
    state_->gathered.clear(); // their leases end, and a sweep claims them
    state_->linger_timer.cancel();
    state_->has_stopped.set();
    state_->sweep_timer.cancel();
}

void publisher::start()
{
    state_->sweeper_ended.reset();
    asio::co_spawn(state_->host.loop(), state::run_sweeper(state_), asio::detached);
}

void publisher::publish(std::vector<row> committed, std::vector<kafka::message> hints)
{
    state_->take(std::move(committed), std::move(hints));
}

awaitable<void> publisher::drain(std::chrono::milliseconds timeout)
{
    const auto self = state_;
    const auto deadline = steady::now() + timeout;
    self->is_draining = true;
    self->publish();
    self->sweep_timer.cancel();
    while (self->under_way > 0 && steady::now() < deadline)
        co_await self->wait(self->drain_timer, deadline - steady::now());
    co_await self->deletes.stop(deadline);
    self->is_stopping = true;
    self->has_stopped.set();
    self->sweep_timer.cancel();
    co_await self->sweeper_ended.wait_until(deadline);
}

} // namespace tempinbox::outbox
