#pragma once

#include "common/core/ids.hpp"
#include "rate-limit/quota_rule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tempinbox::rate_limit {

// A limit as a gateway or the database knows it; the higher version wins.
struct versioned_limit
{
    std::int64_t units = 0; // 0: unlimited
    std::int64_t version = 0;

    friend bool operator==(const versioned_limit&, const versioned_limit&) = default;
};

// What a statement is to do with a block, once it has counted what its holder spent: fill it up,
// leave it, or end it.
enum class block_sync { grow, report, close };

// A holder's account of one block, as totals since the block was made: told twice, nothing is
// counted twice.
struct block_sync_request
{
    account_id account;
    day on_day;
    uuid block_id;
    block_sync action = block_sync::report;
    bool is_known = false; // an answer about this block has come before
    std::int64_t spent = 0;
    versioned_limit limit;
};

enum class block_outcome { synced, other_day, gone };

// What the database says: `granted` in all to this block, `used` of the day, reports included, and
// what other blocks hold unspent.
struct block_sync_result
{
    block_outcome outcome = block_outcome::synced;
    std::int64_t granted = 0;
    std::int64_t used = 0;
    std::int64_t held_by_others = 0;
    versioned_limit limit;
    std::vector<std::string> holders; // of what is elsewhere
};

// The units of one account's day that a replica holds: granted by the database, spent here. Without
// clock, database or network. Never spends more than was granted, and nothing after the end of its
// block; what a lost answer granted turns up in the next.
class block
{
public:
    block(account_id account, day on_day, uuid block_id, versioned_limit limit);

    // As many of the units as are at hand.
    std::int64_t spend(std::int64_t units);
    // A newer limit: spending waits for the database to say what it means, unless the number is the
    // same.
    void update_limit(const versioned_limit& limit);

    block_sync_request report(block_sync action) const;
    // The answer to that report.
    void apply(const block_sync_request& request, const block_sync_result& result);

    day on_day() const { return day_; }
    account_id account() const { return account_; }
    std::int64_t unspent() const
    {
        return is_spendable() && granted_ > spent_ ? granted_ - spent_ : 0;
    }
    // Whether the database ever spoke of it: before, its numbers are nobody's.
    bool is_known() const { return is_known_; }
    // Whether no newer limit waits for the database.
    bool is_current() const { return newest_limit_.units == limit_.units; }
    const versioned_limit& newest_limit() const { return newest_limit_; }
    bool has_unreported() const { return spent_ != reported_spent_; }
    // Low enough to ask for more ahead of need.
    bool is_low() const
    {
        return unspent() * 4 < last_block_ && last_block_ >= min_block_to_refill;
    }

    std::int64_t limit() const { return limit_.units; }
    // What is left of the day after all that is known of it; what others hold counts as used. Never
    // negative and, until a newer limit, never rising.
    std::int64_t take_remaining();

private:
    static constexpr std::int64_t min_block_to_refill = 8;

    bool is_spendable() const { return is_known_ && is_current(); }

    account_id account_;
    day day_;
    uuid block_id_;
    versioned_limit limit_;        // as the database said
    versioned_limit newest_limit_; // the newest of all
    bool is_known_ = false;
    std::int64_t granted_ = 0;
    std::int64_t spent_ = 0;
    std::int64_t reported_spent_ = 0;
    std::int64_t used_ = 0; // of the day, what was told included
    std::int64_t held_by_others_ = 0;
    std::int64_t last_block_ = 0;
    std::int64_t lowest_remaining_ = unlimited; // the lowest number given out under this limit
};

} // namespace tempinbox::rate_limit
