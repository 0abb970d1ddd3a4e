#include "mail-ingest/ingest/database_watch.hpp"

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds away_delay{5};
constexpr std::chrono::seconds check_interval{1};

} // namespace

database_watch::database_watch(runtime::host& host, pools watched)
    : pools_(std::move(watched)),
      task_(host.executor(), host.metrics(), "watch_database", [this] { return tick(); })
{}

bool database_watch::is_away() const
{
    return away_since_ && std::chrono::steady_clock::now() - *away_since_ > away_delay;
}

awaitable<std::chrono::microseconds> database_watch::tick()
{
    try {
        for (postgres::pool& each : pools_)
            co_await ping(each);
        away_since_.reset();
    } catch (const std::exception&) {
        // The failure of a probe is what this looks for.
        if (!away_since_)
            away_since_ = std::chrono::steady_clock::now();
    }
    co_return check_interval;
}

awaitable<void> database_watch::ping(postgres::pool& db)
{
    return db.run(
        [](pqxx::connection& connection) { pqxx::nontransaction(connection).exec("SELECT 1"); });
}

} // namespace tempinbox::mail_ingest
