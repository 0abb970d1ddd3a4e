#include "rate-limit/lease.hpp"

#include <algorithm>

namespace tempinbox::rate_limit {

lease::lease(account_id account, day on_day, uuid block, known_limit limit)
    : account_(account),
      day_(on_day),
      block_(block),
      limit_(limit),
      heard_(limit)
{}

std::int64_t lease::spend(std::int64_t units)
{
    const auto taken = std::clamp<std::int64_t>(unspent(), 0, std::max<std::int64_t>(units, 0));
    spent_ += taken;
    return taken;
}

void lease::hear(const known_limit& limit)
{
    if (limit.version > heard_.version)
        heard_ = limit;
}

block_request lease::report(settlement action) const
{
    block_request told;
    told.account = account_;
    told.on_day = day_;
    told.block = block_;
    told.action = action;
    told.is_known = is_known_;
    told.spent = spent_;
    told.limit = heard_;
    return told;
}

void lease::learn(const block_request& told, const block_answer& answer)
{
    if (answer.limit.units != limit_.units)
        shown_ = unlimited;
    limit_ = answer.limit;
    hear(answer.limit);
    // The database passes over a version that is no newer than its own.
    if (heard_.version <= limit_.version)
        heard_ = limit_;
    if (answer.outcome == block_outcome::other_day && !is_known_ && told.spent == 0)
        return;
    if (told.action == settlement::grow)
        last_block_ = answer.granted - told.spent;
    is_known_ = true;
    granted_ = answer.granted;
    told_spent_ = told.spent;
    used_ = answer.used;
    elsewhere_ = answer.elsewhere;
}

std::int64_t lease::take_remaining()
{
    if (limit_.units == 0)
        return 0;
    const auto untold = spent_ - told_spent_;
    shown_ = std::clamp<std::int64_t>(limit_.units - used_ - untold - elsewhere_, 0, shown_);
    return shown_;
}

} // namespace tempinbox::rate_limit
