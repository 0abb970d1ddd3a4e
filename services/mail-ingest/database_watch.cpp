#include "mail-ingest/database_watch.hpp"

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds patience{5};
constexpr std::chrono::seconds between_looks{1};

} // namespace

database_watch::database_watch(runtime::host& host, pools watched)
    : pools_(std::move(watched)),
      task_(host, "database not watched", [this] { return look(); })
{}

bool database_watch::is_away() const
{
    return away_since_ && std::chrono::steady_clock::now() - *away_since_ > patience;
}

awaitable<std::chrono::microseconds> database_watch::look()
{
    try {
        for (postgres::pool& each : pools_)
            co_await ask(each);
        away_since_.reset();
    } catch (const std::exception&) {
        if (!away_since_)
            away_since_ = std::chrono::steady_clock::now();
    }
    co_return between_looks;
}

awaitable<void> database_watch::ask(postgres::pool& db)
{
    return db.run([](pqxx::connection_base& connection) {
        pqxx::nontransaction(connection).exec("SELECT 1");
    });
}

} // namespace tempinbox::mail_ingest
