#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "webhook-dispatcher/storage/feed_repository.hpp"

#include "tempinbox/webhooks/v1/event_service.pb.h"

namespace tempinbox::webhooks {

// Whether a reader can go on from a place, by what was read behind it. A place ahead of the end is
// one of before the database was put back; so is one of the epoch before that is ahead of its end.
struct feed_decision
{
    v1::FeedOutcome outcome = v1::FEED_OUTCOME_READ;
    std::int64_t missed = 0;
    std::int64_t resume_position = 0;
    bool is_from_earliest = false; // resumes at the earliest place instead
};
feed_decision judge(const feed_state& read, const feed_position& from);

// The RPCs about feeds.
class event_rpc
{
public:
    explicit event_rpc(feed_repository& feeds) : feeds_(feeds) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::OpenFeedResponse>> open(v1::OpenFeedRequest request);
    awaitable<result<v1::ReadEventsResponse>> read(v1::ReadEventsRequest request);
    awaitable<result<v1::FindPositionResponse>> find_position(v1::FindPositionRequest request);
    awaitable<result<v1::GetPositionsResponse>> get_positions(v1::GetPositionsRequest request);

private:
    awaitable<result<feed_state>> read_open_feed(plans::account_state account,
                                                 std::int64_t position, feed_filter wanted);

    feed_repository& feeds_;
};

} // namespace tempinbox::webhooks
