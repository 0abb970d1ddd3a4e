#include "gateway/api/wait.hpp"

#include "common/json/writer.hpp"
#include "gateway/api/query_reader.hpp"

#include <limits>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t longest_filter = 500;

// The query of a wait.
struct wait_request
{
    wait_wish wish;
    std::chrono::seconds patience{30};
    bool expects_none = false;
};

result<wait_request> read_wait(const http::request& received, const caller& who)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    query_reader query(received);
    const auto from = query.text("from", 1, longest_filter);
    const auto to = query.text("to", 1, longest_filter);
    const auto subject = query.text("subject", 1, longest_filter);
    const auto after = query.integer("after", 0, 0, std::numeric_limits<std::int64_t>::max());
    const auto has_code = query.choice("hasCode", "false", {"true", "false"});
    const auto patience = query.integer("timeoutSeconds", 30, 1, 60);
    const auto expected = query.choice("expect", "one", {"one", "none"});
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    wait_request wanted;
    wanted.wish.account = who.account();
    wanted.wish.inbox = *id;
    wanted.wish.after = after;
    wanted.wish.burst_per_second = who.limits().burst_per_second;
    wanted.wish.is_of_session = who.is_dashboard;
    auto& filter = wanted.wish.filter;
    if (from)
        filter.set_from(*from);
    if (to)
        filter.set_to(*to);
    if (subject)
        filter.set_subject(*subject);
    filter.set_has_code(has_code == "true");
    wanted.patience = std::chrono::seconds(patience);
    wanted.expects_none = expected == "none";
    return wanted;
}

std::string_view outcome_name(wait_end end, bool expects_none)
{
    switch (end) {
    case wait_end::matched:
        return expects_none ? "violated" : "matched";
    case wait_end::timeout:
        return "timeout";
    case wait_end::interrupted:
        return "interrupted";
    }
    return {};
}

std::string expected_text(const inbox::v1::EmailFilter& filter, const std::string& field)
{
    if (field == "from")
        return filter.from();
    if (field == "to")
        return filter.to();
    return field == "subject" ? filter.subject() : "true";
}

// Newest first, like every list.
void put_near_misses(json::writer& out, const std::vector<inbox::v1::NearMiss>& misses,
                     const inbox::v1::EmailFilter& filter)
{
    out.key("nearMisses").begin_array();
    for (auto miss = misses.rbegin(); miss != misses.rend(); ++miss) {
        out.begin_object();
        out.member("emailId", miss->email_id());
        out.member("field", miss->field());
        out.member("expected", expected_text(filter, miss->field()));
        out.member("actual", miss->actual());
        out.end_object();
    }
    out.end_array();
}

std::string answer_json(const wait_answer& answer, const inbox::v1::EmailFilter& filter,
                        bool expects_none, std::chrono::milliseconds waited)
{
    json::writer out;
    out.begin_object();
    out.member("outcome", outcome_name(answer.end, expects_none));
    if (answer.email)
        out.key("email").raw(*answer.email);
    else
        out.null_member("email");
    out.member("lastSequence", answer.last_sequence);
    out.member("waitedMs", waited.count());
    put_near_misses(out, answer.near_misses, filter);
    out.end_object();
    return out.take();
}

} // namespace

// GET /v1/inboxes/{inboxId}/emails/wait
awaitable<http::response> wait_for_email(http::request& received, const caller& who,
                                         waiting_room& room)
{
    const auto began = std::chrono::steady_clock::now();
    const auto wanted = read_wait(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    const auto answer = co_await room.wait(wanted->wish, wanted->patience, received);
    if (!answer) {
        auto refused = http::error_response(answer.error());
        if (answer.error().code == errc::rate_limited)
            refused.set("Retry-After", 1);
        co_return refused;
    }

    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    co_return http::ok_json(
        answer_json(*answer, wanted->wish.filter, wanted->expects_none, waited));
}

} // namespace tempinbox::gateway
