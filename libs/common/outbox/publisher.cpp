#include "common/outbox/outbox.hpp"

#include "common/log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::outbox {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr int sweep_batch = 500;
constexpr std::size_t delete_batch = 1'000;
constexpr auto sweep_pause = 250ms;

std::string array_of(const std::vector<std::string>& ids)
{
    std::string array = "{";
    for (const auto& id : ids)
        array += (array.size() == 1 ? "" : ",") + id;
    return array + "}";
}

struct sweep
{
    std::vector<row> rows;
    std::int64_t pending = 0;
    double oldest_seconds = 0;
};

// Rows whose owner let its lease end, under a new lease of ours, in the order of their keys.
sweep claim(pqxx::work& tx, const std::string& schema, const std::string& owner)
{
    sweep claimed;
    const auto found = tx.exec_params(
        "WITH due AS (SELECT event_id FROM " + schema +
            ".outbox WHERE lease_until <= clock_timestamp() ORDER BY key, sequence LIMIT $1 FOR UPDATE SKIP LOCKED), "
            "claimed AS (UPDATE " +
            schema +
            ".outbox o SET owner = $2, lease_until = clock_timestamp() + interval '30 s' FROM due WHERE o.event_id = due.event_id "
            "RETURNING o.event_id, o.topic, o.key, o.sequence, o.headers, o.payload) "
            "SELECT * FROM claimed ORDER BY key, sequence",
        sweep_batch, owner);
    for (const auto& each : found) {
        row entry;
        entry.id = event_id::parse(each[0].c_str()).value();
        entry.message.topic = each[1].c_str();
        entry.message.key = each[2].as<std::string>();
        entry.sequence = each[3].as<std::int64_t>();
        entry.message.headers = headers_from_text(each[4].as<std::string>());
        entry.message.is_tombstone = each[5].is_null();
        if (!entry.message.is_tombstone)
            entry.message.value = pqxx::binarystring(each[5]).str();
        claimed.rows.push_back(std::move(entry));
    }
    return claimed;
}

void measure(pqxx::work& tx, const std::string& schema, sweep& seen)
{
    const auto totals = tx.exec1("SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0) FROM " + schema + ".outbox");
    seen.pending = totals[0].as<std::int64_t>();
    seen.oldest_seconds = totals[1].as<double>();
}

} // namespace

struct publisher::state : std::enable_shared_from_this<publisher::state>
{
    runtime::host& host;
    postgres::pool& db;
    kafka::producer& producer;
    std::string schema;
    std::vector<std::string> acknowledged;
    std::size_t under_way = 0;
    bool is_stopping = false;
    bool is_deleting = false;
    asio::steady_timer wake_deleter;
    asio::steady_timer sweep_timer;
    prometheus::Gauge& pending;
    prometheus::Gauge& oldest_age;

    state(runtime::host& process, postgres::pool& pool, kafka::producer& sender, std::string name)
        : host(process), db(pool), producer(sender), schema(std::move(name)),
          wake_deleter(process.executor(), std::chrono::steady_clock::time_point::max()), sweep_timer(process.executor()),
          pending(process.metrics().gauge("outbox_pending", "Events not yet published or not yet deleted", {{"schema", schema}})),
          oldest_age(process.metrics().gauge("outbox_oldest_age_seconds", "Age of the oldest event in the outbox", {{"schema", schema}}))
    {
    }

    void send(row entry)
    {
        auto id = entry.id.text();
        const bool queued = producer.send(std::move(entry.message), [self = shared_from_this(), id](bool is_acknowledged) {
            --self->under_way;
            if (!is_acknowledged)
                return; // forgotten: its lease ends and a sweep takes it
            self->acknowledged.push_back(id);
            self->wake_deleter.cancel();
        });
        if (queued)
            ++under_way;
    }

    asio::awaitable<void> delete_acknowledged()
    {
        while (!acknowledged.empty()) {
            std::vector<std::string> batch(acknowledged.begin(),
                                           acknowledged.begin() + static_cast<std::ptrdiff_t>(std::min(acknowledged.size(), delete_batch)));
            const bool deleted = co_await try_delete(array_of(batch));
            if (!deleted)
                co_return;
            acknowledged.erase(acknowledged.begin(), acknowledged.begin() + static_cast<std::ptrdiff_t>(batch.size()));
        }
    }

    asio::awaitable<void> run_delete(std::string ids)
    {
        return db.transact([ids = std::move(ids), table = schema + ".outbox"](pqxx::work& tx) {
            tx.exec_params("DELETE FROM " + table + " WHERE event_id = ANY ($1::uuid[])", ids);
        });
    }

    asio::awaitable<bool> try_delete(std::string ids)
    {
        std::string problem;
        try {
            co_await run_delete(std::move(ids));
        } catch (const std::exception& error) {
            problem = error.what();
        }
        if (!problem.empty())
            log::warning("published events not yet deleted", {{"schema", schema}, {"reason", problem}});
        co_return problem.empty();
    }

    // One delete at a time: what is acknowledged meanwhile goes with the next.
    static asio::awaitable<void> run_deleter(std::shared_ptr<state> self)
    {
        asio::steady_timer pause(self->host.executor());
        while (!self->is_stopping) {
            if (self->acknowledged.empty()) {
                self->wake_deleter.expires_at(std::chrono::steady_clock::time_point::max());
                co_await self->wake_deleter.async_wait(asio::as_tuple(asio::use_awaitable));
                continue;
            }
            self->is_deleting = true;
            co_await self->delete_acknowledged();
            self->is_deleting = false;
            if (!self->acknowledged.empty()) {
                pause.expires_after(1s);
                co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
            }
        }
    }

    asio::awaitable<sweep> run_claim(bool is_measured)
    {
        return db.transact([table = schema, owner = host.instance(), is_measured](pqxx::work& tx) {
            sweep claimed = claim(tx, table, owner);
            if (is_measured)
                measure(tx, table, claimed);
            return claimed;
        });
    }

    static asio::awaitable<void> run_sweeper(std::shared_ptr<state> self)
    {
        for (int round = 0; !self->is_stopping; ++round) {
            sweep claimed;
            const bool is_measured = round % 20 == 0;
            bool is_full = false;
            try {
                claimed = co_await self->run_claim(is_measured);
                is_full = claimed.rows.size() == sweep_batch;
            } catch (const std::exception& error) {
                log::warning("outbox not swept", {{"schema", self->schema}, {"reason", error.what()}});
            }
            if (is_measured) {
                self->pending.Set(static_cast<double>(claimed.pending));
                self->oldest_age.Set(claimed.oldest_seconds);
            }
            for (auto& entry : claimed.rows)
                self->send(std::move(entry));
            self->sweep_timer.expires_after(is_full ? 10ms : std::chrono::milliseconds(sweep_pause));
            co_await self->sweep_timer.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
};

publisher::publisher(runtime::host& host, postgres::pool& db, kafka::producer& producer, std::string schema)
    : state_(std::make_shared<state>(host, db, producer, std::move(schema)))
{
}

publisher::~publisher()
{
    state_->is_stopping = true;
    state_->wake_deleter.cancel();
    state_->sweep_timer.cancel();
}

void publisher::start()
{
    asio::co_spawn(state_->host.executor(), state::run_deleter(state_), asio::detached);
    asio::co_spawn(state_->host.executor(), state::run_sweeper(state_), asio::detached);
}

void publisher::publish(std::vector<row> committed)
{
    for (auto& entry : committed)
        state_->send(std::move(entry));
}

asio::awaitable<void> publisher::drain(std::chrono::milliseconds patience)
{
    const auto self = state_;
    const auto end = std::chrono::steady_clock::now() + patience;
    asio::steady_timer timer(self->host.executor());
    while ((self->under_way != 0 || self->is_deleting) && std::chrono::steady_clock::now() < end) {
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    self->is_stopping = true;
    self->sweep_timer.cancel();
    self->wake_deleter.cancel();
    co_await self->delete_acknowledged();
}

} // namespace tempinbox::outbox
