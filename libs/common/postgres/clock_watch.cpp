#include "common/postgres/clock_watch.hpp"

#include "common/postgres/column.hpp"

#include <boost/asio/post.hpp>

#include <cstdlib>

namespace tempinbox::postgres {
namespace {

using steady = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::chrono::seconds query_timeout{10};

// What a query of PostgreSQL's clock found, on a worker.
struct reading
{
    steady::time_point sent_at;
    steady::time_point received_at;
    time_point there;
};

awaitable<void> read(pool& db, std::shared_ptr<reading> found)
{
    return db.run([found](pqxx::connection& connection) {
        pqxx::nontransaction tx(connection);
        found->sent_at = steady::now();
        const auto row =
            tx.exec1("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS time");
        found->received_at = steady::now();
        found->there = column<time_point>(row, "time");
    });
}

microseconds to_micros(steady::duration time)
{
    return std::chrono::duration_cast<microseconds>(time);
}

} // namespace

awaitable<clock_comparison> compare_clocks(pool& db, const clock_source& clock)
{
    clock_comparison compared;
    compared.began = steady::now();
    compared.here = clock.now();
    const auto found = std::make_shared<reading>();
    co_await read(db, found);

    // PostgreSQL's clock was read between these two times of this clock; a difference within them
    // is no error.
    const auto earliest = compared.here + to_micros(found->sent_at - compared.began);
    compared.latest = compared.here + to_micros(found->received_at - compared.began);
    compared.there = found->there;
    if (compared.there < earliest)
        compared.ahead = earliest - compared.there;
    else if (compared.there > compared.latest)
        compared.ahead = compared.latest - compared.there;
    co_return compared;
}

clock_watch::clock_watch(runtime::host& host, pool& db, const clock_source& clock,
                         std::chrono::milliseconds interval)
    : host_(host),
      db_(db),
      clock_(clock),
      interval_(interval),
      offset_(host.metrics().gauge("tempinbox_db_clock_offset_seconds",
                                   "How far this clock is ahead of PostgreSQL's, a lower bound")),
      compared_(host.executor()),
      compared_by_(async::deadline::after(query_timeout)),
      task_(host.executor(), host.metrics(), "compare_clock", [this] { return compare(); })
{
    host.health().expect("clock");
}

bool clock_watch::is_off() const
{
    return compared_at_ && std::chrono::abs(ahead_ + set_since(*compared_at_)) > max_offset;
}

awaitable<bool> clock_watch::is_compared()
{
    if (compared_at_)
        co_return true;
    co_return co_await compared_.wait_until(compared_by_);
}

// How far the wall clock has moved against the steady one.
microseconds clock_watch::set_since(const moment& then) const
{
    return (clock_.now() - then.here) - to_micros(steady::now() - then.steady);
}

awaitable<microseconds> clock_watch::compare()
{
    const auto found = co_await compare_clocks(db_, clock_);
    const bool is_first = !compared_at_;
    compared_at_ = moment(found.here, found.began);
    ahead_ = found.ahead;
    if (is_first)
        compared_.set();
    judge(found.latest, found.there, found.ahead, is_first);
    co_return interval_;
}

void clock_watch::judge(time_point here, time_point there, microseconds ahead, bool is_first)
{
    offset_.Set(std::chrono::duration<double>(ahead).count());
    if (std::chrono::abs(ahead) <= max_offset)
        return host_.health().met("clock");
    const auto reason = "this clock says " + to_iso8601(here) + ", PostgreSQL's " +
                        to_iso8601(there) + ": more than a minute apart, set one of them";
    host_.health().lost("clock", reason);
    // Thrown out of the loop, which ends the process.
    if (is_first)
        boost::asio::post(host_.executor(), [reason] { throw std::runtime_error(reason); });
}

} // namespace tempinbox::postgres
