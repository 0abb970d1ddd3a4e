#include "cli/waiting.hpp"

#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "cli/retry.hpp"
#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_filter_length = 500;
constexpr auto default_timeout = 60s;
constexpr auto max_timeout = std::chrono::seconds(24h);
constexpr auto max_hold = 60s;
// What the response to a request that waits may take longer than it waits.
constexpr auto hold_slack = 15s;
// Of this, beyond the end of the wait.
constexpr auto last_hold_slack = 5s;
// Between two requests, where the service answers at once that nothing is decided.
constexpr auto interrupted_delay = 500ms;
constexpr std::size_t max_rejections_shown = 5;

// `subject: wanted "code", is "Welcome" (tempinbox read 0193…)`
std::string describe_near_miss(const json::value& miss)
{
    const auto field = text_of(miss, "field");
    const auto email = " (tempinbox read " + printable_line(text_of(miss, "emailId")) + ")";
    if (field == "hasCode")
        return "no code was found in it" + email;
    return printable_line(field) + ": wanted " + quote(text_of(miss, "expected")) + ", is " +
           quote(printable_line(text_of(miss, "actual"))) + email;
}

std::string describe_rejection(const json::value& refused)
{
    return "from " + quote(printable_line(text_of(refused, "mailFrom"))) + ": " +
           printable_line(text_of(refused, "reply")) + " (" +
           std::to_string(integer_of(refused, "attempts")) + " times, last at " +
           printable_line(text_of(refused, "lastAt")) + ")";
}

} // namespace

std::vector<option> criteria_options()
{
    return {
        {.name = "from", .value = "TEXT", .meaning = "Sender's address or name contains it"},
        {.name = "to", .value = "TEXT", .meaning = "A recipient contains it"},
        {.name = "subject", .value = "TEXT", .meaning = "Subject contains it"},
    };
}

std::vector<option> wait_options()
{
    auto options = criteria_options();
    options.push_back({.name = "after",
                       .value = "N",
                       .meaning = "Only emails with a higher sequence; `latest`: only those that "
                                  "come from now on. Without it every email counts"});
    options.push_back({.name = "timeout",
                       .value = "TIME",
                       .meaning = "How long to wait, such as 90s or 5m (default 60s)"});
    options.push_back({.name = "hold",
                       .value = "SECONDS",
                       .meaning = "The longest single request, 1 to 60 (default 55): less where a "
                                  "proxy ends long ones"});
    return options;
}

criteria read_criteria(const arguments& given)
{
    criteria wanted;
    wanted.from = given.text("from", 1, max_filter_length);
    wanted.to = given.text("to", 1, max_filter_length);
    wanted.subject = given.text("subject", 1, max_filter_length);
    wanted.has_code = given.has("code");
    wanted.expects_none = given.has("none");
    return wanted;
}

std::chrono::seconds read_timeout(const arguments& given)
{
    return given.duration("timeout", 1s, max_timeout).value_or(default_timeout);
}

std::chrono::seconds read_hold(const arguments& given, std::chrono::seconds standard)
{
    const auto hold = given.integer("hold", 1, max_hold.count());
    return hold ? std::chrono::seconds(*hold) : standard;
}

awaitable<result<std::int64_t>> read_position(session& working, std::string inbox, arguments given)
{
    if (given.value("after") != "latest")
        co_return given.integer("after", 0, max_sequence).value_or(0);
    const auto found = co_await working.api().read({.path = "/v1/inboxes/" + inbox});
    if (!found)
        co_return found.error();
    co_return integer_of(*found, "lastSequence");
}

std::string describe(const criteria& wanted)
{
    std::vector<std::string> parts;
    const auto add = [&parts](const char* name, const std::optional<std::string>& text) {
        if (text)
            parts.push_back(std::string(name) + " contains " + quote(*text));
    };
    add("sender", wanted.from);
    add("recipient", wanted.to);
    add("subject", wanted.subject);
    if (wanted.has_code)
        parts.emplace_back("with a code");
    return join_list(parts);
}

api_call wait_call(const std::string& inbox, const criteria& wanted, std::int64_t after,
                   std::chrono::seconds hold, std::chrono::seconds left)
{
    query asked;
    asked.add("from", wanted.from).add("to", wanted.to).add("subject", wanted.subject);
    if (wanted.has_code)
        asked.add("hasCode", std::optional<std::string>("true"));
    if (wanted.expects_none)
        asked.add("expect", std::optional<std::string>("none"));
    asked.add("after", std::optional(after))
        .add("timeoutSeconds", std::optional<std::int64_t>(hold.count()));
    const auto spare = std::clamp(left - hold, 0s, hold_slack - last_hold_slack);
    return {.path = "/v1/inboxes/" + inbox + "/emails/wait" + asked.text(),
            .timeout = hold + spare + last_hold_slack};
}

awaitable<result<wait_result>> wait_for_email(api_client& api, std::string inbox, criteria wanted,
                                              std::int64_t after, std::chrono::seconds hold,
                                              async::deadline until)
{
    std::optional<json::value> last;
    for (unsigned attempts = 0;;) {
        const auto left = std::chrono::ceil<std::chrono::seconds>(until.remaining());
        if (left <= 0s && last)
            co_return wait_result{wait_result::outcome::timeout, *last};
        const auto part = std::clamp(left, 1s, hold);
        attempt made =
            co_await api.send_once(wait_call(inbox, wanted, after, part, left), attempts);
        if (made.error) {
            ++attempts;
            // A connection that died under the wait says nothing; the next one asks again.
            if (made.response.error == http::exchange_error::timeout)
                made.retry_after = interrupted_delay;
            if (!made.retry_after || *made.retry_after >= until.remaining() ||
                is_day_used_up(made.response))
                co_return std::move(*made.error);
            co_await wait_a_while(*made.retry_after);
            continue;
        }
        attempts = 0;
        auto body = read_object(made.response, api.chosen());
        if (!body)
            co_return body.error();
        const auto outcome = text_of(*body, "outcome");
        if (outcome == "matched" || outcome == "violated")
            co_return wait_result{wait_result::outcome::matched, *body};
        last = std::move(*body);
        if (outcome != "timeout")
            co_await wait_a_while(std::min<std::chrono::milliseconds>(
                interrupted_delay,
                std::chrono::ceil<std::chrono::milliseconds>(until.remaining())));
    }
}

awaitable<std::string> explain_timeout(api_client& api, std::string inbox, criteria wanted,
                                       wait_result ended, std::chrono::seconds timeout)
{
    const auto what = describe(wanted);
    std::string text =
        "no email" + (what.empty() ? "" : " (" + what + ")") + " came within " + to_text(timeout);
    for (const auto& miss : items_of(ended.whole, "nearMisses"))
        text += "\n  near miss: " + describe_near_miss(miss);
    const auto refused = co_await api.read({.path = "/v1/inboxes/" + inbox + "/rejections"},
                                           async::deadline::after(5s));
    std::size_t shown = 0;
    // Without the list of what was refused the rest still helps.
    if (refused)
        for (const auto& one : items_of(*refused, "rejections"))
            if (shown++ < max_rejections_shown)
                text += "\n  refused mail: " + describe_rejection(one);
    text += "\n  Look at the inbox: " + api.dashboard_url("/inboxes/" + inbox);
    co_return text;
}

} // namespace tempinbox::cli
