#pragma once

#include "rate-limit/block.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tempinbox::testing {

// The arithmetic of quota.settle and quota.write_off in memory: the SQL is compared with it, and
// blocks are tested on it.
class ledger_model
{
public:
    using day = rate_limit::day;

    struct day_row
    {
        std::int64_t used = 0;
        std::int64_t outstanding = 0;
        rate_limit::versioned_limit limit;
    };
    struct block_row
    {
        std::string holder;
        std::int64_t granted = 0;
        std::int64_t spent = 0;
        std::int64_t lost = 0;
        bool is_written_off = false;
    };

    explicit ledger_model(day now) : today(now) {}

    static std::int64_t block_size(std::int64_t limit, std::int64_t left)
    {
        return std::max<std::int64_t>(1, std::min({limit / 50, left / 4, std::int64_t(1'000)}));
    }

    rate_limit::block_sync_result sync(const rate_limit::block_sync_request& request,
                                       const std::string& holder)
    {
        using rate_limit::block_sync;
        rate_limit::block_sync_result result;
        if (request.action == block_sync::grow && !request.is_known && request.spent == 0 &&
            request.on_day != today) {
            result.outcome = rate_limit::block_outcome::other_day;
            result.limit = request.limit;
            return result;
        }
        const auto [entry, is_new_day] = days.try_emplace({request.account, request.on_day});
        auto& d = entry->second;
        if (is_new_day)
            d.limit = request.limit;
        const key at{request.account, request.on_day, request.block_id};
        if (request.is_known && !blocks.contains(at)) {
            result.outcome = rate_limit::block_outcome::gone;
            result.used = d.used;
            result.held_by_others = d.outstanding;
            result.limit = d.limit;
            return result;
        }
        auto& b = blocks[at];
        count(d, b, request);
        if (request.limit.version > d.limit.version)
            d.limit = request.limit;
        auto held = b.granted - b.spent;
        const auto limit = d.limit.units == 0 ? plans::unlimited_requests_per_day : d.limit.units;
        const auto left = limit - d.used - d.outstanding;
        if (request.action == block_sync::close) {
            d.outstanding -= held;
            result.granted = b.spent;
            held = 0;
            blocks.erase(at);
        } else {
            if (left < 0) {
                d.outstanding -= std::min(held, -left);
                b.granted -= std::min(held, -left);
            } else if (request.action == block_sync::grow && request.on_day != today) {
                result.outcome = rate_limit::block_outcome::other_day;
            } else if (request.action == block_sync::grow) {
                const auto size = block_size(d.limit.units == 0 ? 1'000'000 : d.limit.units, left);
                const auto more = std::max<std::int64_t>(0, std::min(size - held, left));
                b.granted += more;
                d.outstanding += more;
            }
            b.holder = holder;
            result.granted = b.granted;
            held = b.granted - b.spent;
        }
        result.used = d.used;
        result.held_by_others = d.outstanding - held;
        result.limit = d.limit;
        add_holders(result, at);
        return result;
    }

    // The block's TTL has ended.
    void write_off(account_id account, day on_day, const uuid& block_id)
    {
        const auto found = blocks.find({account, on_day, block_id});
        if (found == blocks.end() || found->second.is_written_off)
            return;
        auto& b = found->second;
        auto& d = days.at({account, on_day});
        b.lost = b.granted - b.spent;
        b.is_written_off = true;
        d.used += b.lost;
        d.outstanding -= b.lost;
    }
    void write_off_all()
    {
        for (const auto& [at, row] : std::map(blocks))
            write_off(std::get<0>(at), std::get<1>(at), std::get<2>(at));
    }

    using key = std::tuple<account_id, day, uuid>;
    day today;
    std::map<std::pair<account_id, day>, day_row> days;
    std::map<key, block_row> blocks;

private:
    static void count(day_row& d, block_row& b, const rate_limit::block_sync_request& request)
    {
        d.used += request.spent - b.spent - b.lost;
        d.outstanding += b.lost - std::min(request.spent - b.spent, b.granted - b.spent);
        b.granted = std::max(b.granted, request.spent);
        b.spent = request.spent;
        b.lost = 0;
        b.is_written_off = false;
    }

    void add_holders(rate_limit::block_sync_result& result, const key& own) const
    {
        if (result.held_by_others <= 0)
            return;
        for (const auto& [at, row] : blocks)
            if (std::get<0>(at) == std::get<0>(own) && std::get<1>(at) == std::get<1>(own) &&
                at != own && row.granted > row.spent && row.lost == 0)
                result.holders.push_back(row.holder);
        std::sort(result.holders.begin(), result.holders.end());
        result.holders.erase(std::unique(result.holders.begin(), result.holders.end()),
                             result.holders.end());
    }
};

} // namespace tempinbox::testing
