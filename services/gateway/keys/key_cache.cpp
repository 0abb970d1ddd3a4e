#include "gateway/keys/key_cache.hpp"

#include "gateway/completion.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto read_interval = 300ms;
constexpr auto longest_trust = 900ms;
// Deleted accounts are among the changes for a day.
constexpr auto longest_named = 1h;
// A request joins a look-up under way only this long after it began, so that what it learns is no older than a fresh entry would
// be.
constexpr auto joinable_for = 300ms;
constexpr auto lookup_patience = 2s;
constexpr std::size_t most_known = 200'000;
constexpr std::size_t most_unknown = 50'000;

} // namespace

// One statement for all who ask for the same key at the same time.
struct key_cache::lookup
{
    steady::time_point began = steady::now();
    bool is_answered = false;
    owner found;
    std::string problem = "no answer in time";
    std::vector<std::shared_ptr<completion>> waiting;

    void finish()
    {
        for (const auto& waiter : waiting)
            waiter->set();
        waiting.clear();
    }
};

key_cache::key_cache(runtime::host& host, accounts::key_store& keys)
    : host_(host),
      keys_(keys),
      lookups_(host.metrics().counter("tempinbox_gateway_key_lookups_total", "API keys looked up in PostgreSQL")),
      failed_reads_(
          host.metrics().counter("tempinbox_gateway_key_change_reads_failed_total", "Reads of accounts.changes that failed")),
      known_version_(host.metrics().gauge("tempinbox_gateway_known_change_version", "How far accounts.changes has been read")),
      // One failure in between leaves the entries fresh.
      reader_(host, "changes of accounts and keys not read", [this] { return read_changes(); }, read_interval)
{}

awaitable<key_cache::owner> key_cache::find(std::string digest)
{
    if (is_fresh()) {
        if (const auto entry = known_.find(digest); entry != known_.end())
            co_return entry->second;
        if (unknown_.contains(digest))
            co_return nullptr;
    }
    const auto entry = join_lookup(digest);
    const auto done = std::make_shared<completion>(host_.executor());
    entry->waiting.push_back(done);
    co_await done->wait_until(steady::now() + lookup_patience);
    if (!entry->is_answered)
        throw dependency_error("API keys cannot be looked up: " + entry->problem);
    co_return entry->found;
}

bool key_cache::is_fresh() const
{
    return version_ && steady::now() - read_at_ < longest_trust;
}

std::shared_ptr<key_cache::lookup> key_cache::join_lookup(const std::string& digest)
{
    auto& entry = under_way_[digest];
    if (entry && steady::now() - entry->began < joinable_for)
        return entry;
    entry = std::make_shared<lookup>();
    boost::asio::co_spawn(host_.loop(), look_up(entry, digest), boost::asio::detached);
    return entry;
}

awaitable<void> key_cache::look_up(std::shared_ptr<lookup> entry, std::string digest)
{
    lookups_.Increment();
    try {
        auto answer = co_await keys_.find_by_digest(digest);
        if (answer.owner)
            entry->found = std::make_shared<const accounts::key_owner>(std::move(*answer.owner));
        entry->is_answered = true;
        remember(digest, entry->found, answer.version);
    } catch (const std::exception& problem) {
        entry->problem = problem.what();
    }
    if (const auto current = under_way_.find(digest); current != under_way_.end() && current->second == entry)
        under_way_.erase(current);
    entry->finish();
}

// An answer older than what was already read may have missed a change that will not be seen again: it serves those who wait, and
// is not kept.
void key_cache::remember(const std::string& digest, const owner& found, std::int64_t version)
{
    if (!version_ || version < *version_)
        return;
    if (!found) {
        if (unknown_.size() >= most_unknown)
            unknown_.clear();
        unknown_.insert(digest);
        return;
    }
    if (known_.size() >= most_known) {
        known_.clear();
        digests_of_.clear();
    }
    unknown_.erase(digest);
    if (known_.insert_or_assign(digest, found).second)
        digests_of_[found->account.account].push_back(digest);
}

awaitable<std::chrono::microseconds> key_cache::read_changes()
{
    const auto began = steady::now();
    try {
        auto changes = co_await keys_.read_changes(version_);
        if (began - read_at_ > longest_named)
            changes.is_complete = false;
        forget(changes);
        read_at_ = began;
    } catch (...) {
        failed_reads_.Increment();
        throw;
    }
    co_return read_interval;
}

void key_cache::forget(const accounts::change_set& changes)
{
    const bool has_changed = !version_ || *version_ != changes.version;
    version_ = changes.version;
    known_version_.Set(static_cast<double>(changes.version));
    if (!has_changed)
        return;
    // A new key may be one that was asked for before it existed.
    unknown_.clear();
    if (!changes.is_complete) {
        known_.clear();
        digests_of_.clear();
        return;
    }
    for (const auto& account : changes.accounts) {
        const auto entry = digests_of_.find(account);
        if (entry == digests_of_.end())
            continue;
        for (const auto& digest : entry->second)
            known_.erase(digest);
        digests_of_.erase(entry);
    }
}

} // namespace tempinbox::gateway
