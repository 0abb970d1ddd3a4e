#include "rate-limit/block.hpp"

#include <algorithm>

namespace tempinbox::rate_limit {

block::block(account_id account, day on_day, uuid block_id, versioned_limit limit)
    : account_(account),
      day_(on_day),
      block_id_(block_id),
      limit_(limit),
      newest_limit_(limit)
{}

std::int64_t block::spend(std::int64_t units)
{
    const auto taken = std::clamp<std::int64_t>(unspent(), 0, std::max<std::int64_t>(units, 0));
    spent_ += taken;
    return taken;
}

void block::update_limit(const versioned_limit& limit)
{
    if (limit.version > newest_limit_.version)
        newest_limit_ = limit;
}

block_sync_request block::report(block_sync action) const
{
    block_sync_request request;
    request.account = account_;
    request.on_day = day_;
    request.block_id = block_id_;
    request.action = action;
    request.is_known = is_known_;
    request.spent = spent_;
    request.limit = newest_limit_;
    return request;
}

void block::apply(const block_sync_request& request, const block_sync_result& result)
{
    if (result.limit.units != limit_.units)
        lowest_remaining_ = plans::unlimited_requests_per_day;
    limit_ = result.limit;
    update_limit(result.limit);
    // The database ignores a version that is not newer than its own.
    if (newest_limit_.version <= limit_.version)
        newest_limit_ = limit_;
    if (result.outcome == block_outcome::other_day && !is_known_ && request.spent == 0)
        return;
    if (request.action == block_sync::grow)
        last_block_ = result.granted - request.spent;
    is_known_ = true;
    granted_ = result.granted;
    reported_spent_ = request.spent;
    used_ = result.used;
    held_by_others_ = result.held_by_others;
}

std::int64_t block::take_remaining()
{
    if (limit_.units == 0)
        return 0;
    const auto unreported = spent_ - reported_spent_;
    lowest_remaining_ = std::clamp<std::int64_t>(
        limit_.units - used_ - unreported - held_by_others_, 0, lowest_remaining_);
    return lowest_remaining_;
}

} // namespace tempinbox::rate_limit
