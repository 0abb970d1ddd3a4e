#include "gateway/resources/wait.hpp"

#include "common/json/writer.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/email_conditions.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tempinbox::gateway {
namespace {

constexpr int max_min_count = 100;
constexpr std::size_t max_near_misses = 10;

// The parameters of a long poll.
struct wait_params
{
    long_poll_request request;
    std::chrono::seconds timeout{30};
    bool expects_none = false;
    int min_count = 1;
};

// What a wait found, as it is answered.
struct wait_response
{
    long_poll_result ended;
    std::vector<inbox::v1::EmailSummary> emails; // that match, where several are waited for
};

result<wait_params> read_wait(const http::request& received, const caller& who)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    query_reader query(received);
    auto filter = read_conditions(query);
    const auto after = query.integer("after", 0, 0, std::numeric_limits<std::int64_t>::max());
    const auto timeout = query.integer("timeoutSeconds", 30, 1, 60);
    const auto expected = query.choice("expect", "one", {"one", "none"});
    const auto min_count = query.integer("minCount", 1, 1, max_min_count);
    if (expected == "none" && min_count > 1)
        query.fail("minCount must be 1 with expect=none, not " + std::to_string(min_count));
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    wait_params params;
    params.request.account = who.account();
    params.request.inbox = *id;
    params.request.after = after;
    params.request.burst_per_second = who.limits().burst_per_second;
    params.request.is_of_session = who.is_dashboard;
    params.request.filter = std::move(filter);
    params.timeout = std::chrono::seconds(timeout);
    params.expects_none = expected == "none";
    params.min_count = static_cast<int>(min_count);
    return params;
}

std::string_view outcome_name(long_poll_outcome end, bool expects_none)
{
    switch (end) {
    case long_poll_outcome::matched:
        return expects_none ? "violated" : "matched";
    case long_poll_outcome::timeout:
        return "timeout";
    case long_poll_outcome::inbox_ended:
        return "inbox_ended";
    case long_poll_outcome::draining:
        return "draining";
    }
    return {};
}

// Newest first, like every list.
void put_near_misses(json::writer& out, const std::vector<inbox::v1::NearMiss>& misses,
                     const http::request& received)
{
    out.key("nearMisses").begin_array();
    for (auto miss = misses.rbegin(); miss != misses.rend(); ++miss) {
        out.begin_object();
        out.member("emailId", miss->email_id());
        out.member("field", miss->field());
        out.member("expected", given_condition(received, miss->field()));
        out.member("actual", miss->actual());
        out.end_object();
    }
    out.end_array();
}

std::string result_json(const wait_response& response, const http::request& received,
                        bool expects_none, std::chrono::milliseconds waited)
{
    const auto& result = response.ended;
    const auto one = result.email ? 1 : 0;
    json::writer out;
    out.begin_object();
    out.member("outcome", outcome_name(result.end, expects_none));
    if (result.email)
        out.key("email").raw(*result.email);
    else
        out.null_member("email");
    out.member("matched", response.emails.empty() ? one : static_cast<int>(response.emails.size()));
    out.key("emails").begin_array();
    for (const auto& email : response.emails)
        out.raw(to_json(email));
    out.end_array();
    out.member("lastSequence", result.last_sequence);
    out.member("waitedMs", waited.count());
    put_near_misses(out, result.near_misses, received);
    out.end_object();
    return out.take();
}

// Those that are still there.
awaitable<result<std::vector<inbox::v1::EmailSummary>>>
read_summaries(account_id account, std::vector<std::string> ids, inbox_client& inboxes)
{
    if (ids.empty())
        co_return std::vector<inbox::v1::EmailSummary>();
    inbox::v1::GetEmailSummariesRequest request;
    request.set_account_id(account.text());
    for (auto& id : ids)
        request.add_email_ids(std::move(id));
    auto read = co_await inboxes.call(inbox_methods::get_email_summaries, std::move(request));
    if (!read)
        co_return read.error();
    auto& emails = *read->mutable_emails();
    co_return std::vector<inbox::v1::EmailSummary>(std::make_move_iterator(emails.begin()),
                                                   std::make_move_iterator(emails.end()));
}

std::vector<std::string> ids_of(const std::vector<inbox::v1::EmailSummary>& emails)
{
    std::vector<std::string> ids;
    ids.reserve(emails.size());
    for (const auto& email : emails)
        ids.push_back(email.email_id());
    return ids;
}

// The newest ten of both.
void add_near_misses(std::vector<inbox::v1::NearMiss>& all,
                     const std::vector<inbox::v1::NearMiss>& later)
{
    all.insert(all.end(), later.begin(), later.end());
    if (all.size() > max_near_misses)
        all.erase(all.begin(), all.end() - max_near_misses);
}

// Waits until so many emails match, all of them still there: what was deleted meanwhile does not
// count, and the wait goes on behind the last one.
awaitable<result<wait_response>> wait_for_several(wait_params params, http::request& received,
                                                  long_poll_hub& hub, inbox_client& inboxes,
                                                  response_budget& memory)
{
    const auto deadline = std::chrono::steady_clock::now() + params.timeout;
    const auto account = params.request.account;
    wait_response response;
    std::vector<inbox::v1::NearMiss> near_misses;
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        params.request.count = params.min_count - static_cast<int>(response.emails.size());
        auto ended = co_await hub.wait(params.request,
                                       std::max(left, std::chrono::milliseconds::zero()), received);
        if (!ended)
            co_return ended.error();
        add_near_misses(near_misses, ended->near_misses);
        auto ids = ids_of(response.emails);
        ids.insert(ids.end(), ended->matching.begin(), ended->matching.end());
        auto emails = co_await read_summaries(account, std::move(ids), inboxes);
        if (!emails)
            co_return emails.error();
        response.emails = std::move(*emails);
        params.request.after = ended->searched_to;
        response.ended = std::move(*ended);
        response.ended.near_misses = near_misses;
        if (response.ended.end != long_poll_outcome::matched)
            co_return response;
        if (static_cast<int>(response.emails.size()) == params.min_count) {
            auto first =
                co_await read_whole(account, response.emails.front().email_id(), inboxes, memory);
            if (first) {
                response.ended.email = std::move(*first);
                co_return response;
            }
            if (first.error().code != errc::not_found)
                co_return first.error();
            response.emails.erase(response.emails.begin());
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            response.ended.end = long_poll_outcome::timeout;
            co_return response;
        }
    }
}

awaitable<result<wait_response>> wait_for_one(const wait_params& params, http::request& received,
                                              long_poll_hub& hub)
{
    auto ended = co_await hub.wait(params.request, params.timeout, received);
    if (!ended)
        co_return ended.error();
    wait_response response;
    response.ended = std::move(*ended);
    co_return response;
}

} // namespace

// GET /v1/inboxes/{inboxId}/emails/wait
awaitable<http::response> wait_for_email(http::request& received, const caller& who,
                                         long_poll_hub& hub, inbox_client& inboxes,
                                         response_budget& memory)
{
    const auto began = std::chrono::steady_clock::now();
    const auto params = read_wait(received, who);
    if (!params)
        co_return http::error_response(params.error());

    const auto result = params->min_count > 1
                            ? co_await wait_for_several(*params, received, hub, inboxes, memory)
                            : co_await wait_for_one(*params, received, hub);
    if (!result) {
        auto refused = http::error_response(result.error());
        if (result.error().code == errc::rate_limited)
            refused.set("Retry-After", 1);
        co_return refused;
    }

    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    co_return http::ok_json(result_json(*result, received, params->expects_none, waited));
}

} // namespace tempinbox::gateway
