#pragma once

#include "common/core/ids.hpp"
#include "common/plans/plan_limits.hpp"
#include "rate-limit/quota_rule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tempinbox::rate_limit {

// A limit as a gateway or the database knows it; the highest version wins.
struct versioned_limit
{
    std::int64_t units = 0; // 0: counted against plans::unlimited_requests_per_day
    std::int64_t version = 0;

    friend bool operator==(const versioned_limit&, const versioned_limit&) = default;
};

// What a sync does with a block, once it has counted what its holder spent: fill it up, leave it,
// or end it.
enum class block_sync { grow, report, close };

// A holder's report about one block. Its numbers are totals since the block was made, so a repeated
// report counts nothing twice.
struct block_sync_request
{
    account_id account;
    day on_day;
    uuid block_id;
    block_sync action = block_sync::report;
    bool is_known = false; // the database has answered about this block before
    std::int64_t spent = 0;
    versioned_limit limit;
};

enum class block_outcome { synced, other_day, gone };

// The database's response: `granted` is the total of this block, `used` the total of the day
// including this report, `held_by_others` what other blocks hold unspent.
struct block_sync_result
{
    block_outcome outcome = block_outcome::synced;
    std::int64_t granted = 0;
    std::int64_t used = 0;
    std::int64_t held_by_others = 0;
    versioned_limit limit;
    std::vector<std::string> holders; // of the units held by others
};

// The units of one account's day that a replica holds: granted by the database, spent here. Needs
// no clock, database or network. Never spends more than was granted, and nothing after its block
// has ended. If a response is lost, the next one includes the units it granted.
class block
{
public:
    block(account_id account, day on_day, uuid block_id, versioned_limit limit);

    // Spends up to `units`, as many as are unspent; returns how many.
    std::int64_t spend(std::int64_t units);
    // Takes over a newer limit. If its number differs, spending stops until the database has
    // answered under it.
    void update_limit(const versioned_limit& limit);

    block_sync_request report(block_sync action) const;
    // `result` must be the response to `request`, which report() made.
    void apply(const block_sync_request& request, const block_sync_result& result);

    day on_day() const { return day_; }
    account_id account() const { return account_; }
    std::int64_t unspent() const
    {
        return is_spendable() && granted_ > spent_ ? granted_ - spent_ : 0;
    }
    // Whether the database has answered about this block; before that its numbers mean nothing.
    bool is_known() const { return is_known_; }
    // Whether the database has applied the newest limit.
    bool is_current() const { return newest_limit_.units == limit_.units; }
    const versioned_limit& newest_limit() const { return newest_limit_; }
    bool has_unreported() const { return spent_ != reported_spent_; }
    // Low enough to request more units before they are needed.
    bool is_low() const
    {
        return unspent() * 4 < last_block_ && last_block_ >= min_block_to_refill;
    }

    std::int64_t limit() const { return limit_.units; }
    // What remains of the day after everything known to be used; units held by others count as
    // used. Never negative, and never rises until the limit changes.
    std::int64_t take_remaining();

private:
    static constexpr std::int64_t min_block_to_refill = 8;

    bool is_spendable() const { return is_known_ && is_current(); }

    account_id account_;
    day day_;
    uuid block_id_;
    versioned_limit limit_;        // as the database last reported it
    versioned_limit newest_limit_; // the newest from any source
    bool is_known_ = false;
    std::int64_t granted_ = 0;
    std::int64_t spent_ = 0;
    std::int64_t reported_spent_ = 0;
    std::int64_t used_ = 0; // of the day, our reported units included
    std::int64_t held_by_others_ = 0;
    std::int64_t last_block_ = 0;
    // The lowest number returned under this limit.
    std::int64_t lowest_remaining_ = plans::unlimited_requests_per_day;
};

} // namespace tempinbox::rate_limit
