#include "webhook-dispatcher/api/event_rpc.hpp"

#include "common/rpc/webhook_methods.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr int max_limit = 500;
constexpr int max_accounts = 250;
// With a filter a page looks at more events than it has.
constexpr int max_rows = 2'000;
// A page ends once its payloads are that large.
constexpr std::size_t max_payloads = 256 * 1024;

struct read_params
{
    plans::account_state account;
    feed_position from;
    feed_filter wanted;
};

result<read_params> read_params_of(const v1::ReadEventsRequest& request)
{
    const auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    if (request.limit() < 1 || request.limit() > max_limit)
        return failure{errc::invalid_argument,
                       "limit must be an integer from 1 to " + std::to_string(max_limit)};
    const auto kinds = read_event_set({request.types().begin(), request.types().end()});
    if (!kinds)
        return kinds.error();
    read_params params;
    params.account = *account;
    params.from = {request.epoch(), request.position()};
    params.wanted.limit = request.limit();
    params.wanted.kinds = *kinds;
    if (!request.inbox_id().empty()) {
        const auto inbox = inbox_id::parse(request.inbox_id());
        if (!inbox)
            return inbox.error();
        params.wanted.inbox = *inbox;
    }
    const bool is_filtered = params.wanted.inbox || params.wanted.kinds != event_set::all();
    params.wanted.max_rows = is_filtered ? max_rows : params.wanted.limit;
    return params;
}

v1::FeedEvent to_message(const feed_event& event)
{
    v1::FeedEvent message;
    message.set_position(event.position);
    message.set_event_id(event.id.text());
    message.set_inbox_id(event.inbox.text());
    message.set_type(std::string(to_string(event.kind)));
    message.set_payload(*event.body);
    return message;
}

// Until the payloads are large, and never past a hole, which the next page begins with; the
// position is that of the last row looked at.
void add_page(v1::ReadEventsResponse& response, const read_params& params, const feed_state& read)
{
    std::size_t size = 0;
    response.set_position(params.from.position);
    for (const auto& row : read.rows) {
        if (row.position != response.position() + 1)
            return;
        if (row.body) {
            size += row.body->size();
            if (size > max_payloads && response.events_size() > 0)
                return;
            *response.add_events() = to_message(row);
        }
        response.set_position(row.position);
    }
}

} // namespace

feed_decision judge(const feed_state& read, const feed_position& from)
{
    feed_decision decision;
    const bool is_of_epoch_before = from.epoch == read.previous_epoch;
    const auto end = is_of_epoch_before ? read.epoch_position : read.last;
    decision.is_from_earliest = from.epoch != read.epoch && !is_of_epoch_before;
    if (decision.is_from_earliest || from.position > end) {
        decision.outcome = v1::FEED_OUTCOME_RESET;
        decision.resume_position = end;
        return decision;
    }
    const auto resume = read.rows.empty() ? read.last : read.rows.front().position - 1;
    if (resume > from.position) {
        decision.outcome = v1::FEED_OUTCOME_EXPIRED;
        decision.missed = resume - from.position;
        decision.resume_position = resume;
    }
    return decision;
}

void event_rpc::add_to(rpc::server& server)
{
    server.add(webhook_methods::open_feed, *this, &event_rpc::open);
    server.add(webhook_methods::read_events, *this, &event_rpc::read);
    server.add(webhook_methods::find_position, *this, &event_rpc::find_position);
    server.add(webhook_methods::get_positions, *this, &event_rpc::get_positions);
}

awaitable<result<v1::OpenFeedResponse>> event_rpc::open(v1::OpenFeedRequest request)
{
    const auto account = plans::from_proto(request.account());
    if (!account)
        co_return account.error();
    const auto bounds = co_await feeds_.open(*account);
    if (!bounds)
        co_return bounds.error();
    v1::OpenFeedResponse response;
    response.set_epoch(bounds->latest.epoch);
    response.set_earliest(bounds->earliest.position);
    response.set_latest(bounds->latest.position);
    co_return response;
}

awaitable<result<feed_state>> event_rpc::read_open_feed(plans::account_state account,
                                                        std::int64_t position, feed_filter wanted)
{
    auto found = co_await feeds_.read(account.account, position, wanted);
    if (!found || !found->is_recording) {
        const auto opened = co_await feeds_.open(account);
        if (!opened)
            co_return opened.error();
        found = co_await feeds_.read(account.account, position, wanted);
    } else if (found->is_read_long_ago) {
        co_await feeds_.touch(account.account);
    }
    if (!found)
        co_return failure{errc::unavailable, "The feed ended just now; try again"};
    co_return std::move(*found);
}

awaitable<result<v1::ReadEventsResponse>> event_rpc::read(v1::ReadEventsRequest request)
{
    const auto params = read_params_of(request);
    if (!params)
        co_return params.error();
    const auto found =
        co_await read_open_feed(params->account, params->from.position, params->wanted);
    if (!found)
        co_return found.error();
    auto decision = judge(*found, params->from);
    if (decision.is_from_earliest) {
        const auto bounds = co_await feeds_.open(params->account);
        if (!bounds)
            co_return bounds.error();
        decision.resume_position = bounds->earliest.position;
    }
    v1::ReadEventsResponse response;
    response.set_outcome(decision.outcome);
    response.set_epoch(found->epoch);
    response.set_latest(found->last);
    response.set_missed(decision.missed);
    response.set_resume_position(decision.resume_position);
    if (decision.outcome == v1::FEED_OUTCOME_READ)
        add_page(response, *params, *found);
    co_return response;
}

awaitable<result<v1::FindPositionResponse>>
event_rpc::find_position(v1::FindPositionRequest request)
{
    const auto account = plans::from_proto(request.account());
    if (!account)
        co_return account.error();
    const auto bounds = co_await feeds_.open(*account);
    if (!bounds)
        co_return bounds.error();
    v1::FindPositionResponse response;
    response.set_epoch(bounds->latest.epoch);
    if (request.of_case() == v1::FindPositionRequest::kSince) {
        const auto found =
            co_await feeds_.find_position(account->account, from_unix_micros(request.since()));
        response.set_position(found ? *found - 1 : bounds->latest.position);
        co_return response;
    }
    const auto id = event_id::parse(request.event_id());
    if (!id)
        co_return id.error();
    const auto found = co_await feeds_.find_event(account->account, *id);
    if (!found)
        co_return failure{errc::not_found, "The feed has no event " + id->text()};
    response.set_position(found->position);
    response.set_inbox_id(found->inbox.text());
    co_return response;
}

awaitable<result<v1::GetPositionsResponse>>
event_rpc::get_positions(v1::GetPositionsRequest request)
{
    if (request.account_ids_size() > max_accounts)
        co_return failure{errc::invalid_argument,
                          "at most " + std::to_string(max_accounts) + " accounts"};
    std::vector<account_id> accounts;
    for (const auto& text : request.account_ids()) {
        const auto account = account_id::parse(text);
        if (!account)
            co_return account.error();
        accounts.push_back(*account);
    }
    v1::GetPositionsResponse response;
    for (const auto& found : co_await feeds_.find_latest(accounts)) {
        auto& latest = *response.add_positions();
        latest.set_account_id(found.account.text());
        latest.set_epoch(found.latest.epoch);
        latest.set_position(found.latest.position);
    }
    co_return response;
}

} // namespace tempinbox::webhooks
