#include "gateway/resources/wait.hpp"

#include "common/json/writer.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/email_conditions.hpp"

#include <limits>

namespace tempinbox::gateway {
namespace {

// The parameters of a long poll.
struct wait_params
{
    long_poll_request request;
    std::chrono::seconds timeout{30};
    bool expects_none = false;
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

std::string result_json(const long_poll_result& result, const http::request& received,
                        bool expects_none, std::chrono::milliseconds waited)
{
    json::writer out;
    out.begin_object();
    out.member("outcome", outcome_name(result.end, expects_none));
    if (result.email)
        out.key("email").raw(*result.email);
    else
        out.null_member("email");
    out.member("lastSequence", result.last_sequence);
    out.member("waitedMs", waited.count());
    put_near_misses(out, result.near_misses, received);
    out.end_object();
    return out.take();
}

} // namespace

// GET /v1/inboxes/{inboxId}/emails/wait
awaitable<http::response> wait_for_email(http::request& received, const caller& who,
                                         long_poll_hub& hub)
{
    const auto began = std::chrono::steady_clock::now();
    const auto params = read_wait(received, who);
    if (!params)
        co_return http::error_response(params.error());

    const auto result = co_await hub.wait(params->request, params->timeout, received);
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
