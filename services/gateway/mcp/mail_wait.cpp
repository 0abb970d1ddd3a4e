#include "gateway/mcp/mail_wait.hpp"

#include "common/core/ids.hpp"
#include "gateway/mcp/email_filters.hpp"
#include "gateway/mcp/fence.hpp"

#include <algorithm>
#include <limits>

namespace tempinbox::gateway::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_id = 100;
// Bytes of emails that one wait looks into: whoever fills an inbox does not keep a replica busy. An
// email counts as so many at least; so a wait looks into fifty that are small.
constexpr std::size_t min_email_bytes = 400 * 1024;
constexpr std::size_t max_skipped_bytes = 50 * min_email_bytes;

template <class Id>
void check_id(json::object_reader& arguments, const std::string& id)
{
    if (id.empty())
        return;
    if (const auto parsed = Id::parse(id); !parsed)
        arguments.fail(parsed.error().message);
}

// What comes before the rest of each result.
void begin(json::writer& out, const fence& marks, std::string_view outcome)
{
    out.begin_object();
    marks.put_notice(out);
    out.member("outcome", outcome);
}

tool_result end(json::writer& out, const fence& marks)
{
    marks.put_hidden(out);
    out.end_object();
    return tool_result::of_json(out.take());
}

void put_codes(json::writer& out, const std::vector<std::string>& codes)
{
    if (codes.empty()) {
        out.null_member("code").member("otherCodes", codes);
        return;
    }
    out.member("code", codes.front());
    out.member("otherCodes", std::vector<std::string>(codes.begin() + 1, codes.end()));
}

} // namespace

result<mail_wait> mail_wait::read(purpose chosen, const json::value& arguments)
{
    mail_wait made(chosen);
    json::object_reader from(arguments);
    made.inbox_ = from.text("inboxId", 1, max_id).value_or("");
    if (chosen != purpose::email)
        made.email_ = from.text("emailId", 1, max_id).value_or("");
    if (chosen == purpose::code)
        made.conditions_.emplace_back("hasCode", "true");
    read_filters(from, made.conditions_,
                 {.code = chosen == purpose::code, .link = chosen == purpose::link});
    if (chosen == purpose::link) {
        made.kind_ = from.choice("kind", {"verify", "reset", "unsubscribe", "other"});
        if (made.kind_)
            made.conditions_.emplace_back("linkKind", *made.kind_);
        else
            made.conditions_.emplace_back("hasLink", "true");
    }
    made.after_ = from.integer("after", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
    made.timeout_ =
        std::chrono::seconds(from.integer("timeoutSeconds", 1, max_wait).value_or(standard_wait));
    if (chosen == purpose::email && made.inbox_.empty())
        from.fail("inboxId is required: the inboxId of create_inbox or list_inboxes");
    if (chosen != purpose::email && made.inbox_.empty() == made.email_.empty())
        from.fail("give either inboxId, to wait for an email, or emailId, to look into one");
    check_id<inbox_id>(from, made.inbox_);
    check_id<email_id>(from, made.email_);
    if (const auto all_known = from.finish(); !all_known)
        return all_known.error();
    return made;
}

std::chrono::seconds mail_wait::waited() const
{
    return began_ ? std::chrono::floor<std::chrono::seconds>(clock::now() - *began_) : 0s;
}

query_list mail_wait::query(clock::time_point end) const
{
    const auto in_step = std::chrono::ceil<std::chrono::seconds>(end - clock::now());
    auto query = conditions_;
    query.emplace_back("after", std::to_string(after_));
    query.emplace_back("timeoutSeconds",
                       std::to_string(std::max(std::min(left(), in_step), 1s).count()));
    return query;
}

awaitable<std::optional<tool_result>> mail_wait::step(api_calls& calls, std::chrono::seconds max)
{
    if (!email_.empty())
        co_return co_await look_into(calls);
    const auto end = clock::now() + max;
    if (!began_)
        began_ = clock::now();
    while (!calls.is_hung_up()) {
        auto response = co_await calls.get("/v1/inboxes/" + inbox_ + "/emails/wait", query(end));
        if (response.status != 200) {
            // What was waited already is not lost by a bound or a replica that goes.
            if (has_waited_ && (response.status == 429 || response.status == 503))
                co_return not_yet(nullptr);
            co_return refused_by_operation(response);
        }
        has_waited_ = true;

        const auto bytes = response.body.size();
        auto read = co_await calls.read<reading>(
            [self = *this, body = std::move(response.body)] { return self.read_poll(body); });
        if (!read && skipped_bytes_ > 0)
            co_return not_yet(nullptr); // from behind the emails that it looked into
        if (!read)
            co_return refused(read.error());
        if (read->outcome == "inbox_ended")
            continue; // the next poll is refused, and says when it ended
        if (read->outcome == "draining" || (read->outcome != "matched" && left() <= 0s))
            co_return read->result;
        if (read->outcome == "matched") {
            after_ = read->sequence;
            if (read->result)
                co_return read->result;
            // An email without such a link is not what is waited for.
            skipped_bytes_ += std::max(bytes, min_email_bytes);
            is_cut_ = is_cut_ || read->is_cut;
            if (skipped_bytes_ >= max_skipped_bytes || left() <= 0s)
                co_return not_yet(nullptr);
        }
        if (clock::now() >= end)
            co_return std::nullopt;
    }
    co_return not_yet(nullptr); // to nobody
}

// The email that was named, whatever it holds.
awaitable<std::optional<tool_result>> mail_wait::look_into(api_calls& calls) const
{
    auto response = co_await calls.get("/v1/emails/" + email_);
    if (response.status != 200)
        co_return refused_by_operation(response);
    auto read = co_await calls.read<reading>([self = *this, body = std::move(response.body)] {
        return self.read_part(parse_response(body));
    });
    if (!read)
        co_return refused(read.error());
    co_return read->result;
}

// What the response to the long poll says; if no email came, the result should the wait end here.
mail_wait::reading mail_wait::read_poll(const std::string& body) const
{
    const auto answer = parse_response(body);
    const auto outcome = answer["outcome"].text();
    reading read;
    if (outcome != "matched") {
        read.result = not_yet(&answer);
    } else if (purpose_ == purpose::email) {
        read.sequence = answer["email"]["sequence"].integer();
        read.result = finish_email(answer);
    } else {
        read = read_part(answer["email"]);
    }
    read.outcome = outcome;
    return read;
}

tool_result mail_wait::finish_email(const json::value& answer) const
{
    const auto email = answer["email"];
    fence marks;
    json::writer out;
    begin(out, marks, "matched");
    out.key("after").raw(email["sequence"].to_string());
    out.key("email");
    put_summary(out, email, marks);
    put_near_misses(out, answer["nearMisses"], marks);
    return end(out, marks);
}

// The codes or the link of an email; no result if it has none and a wait goes on.
mail_wait::reading mail_wait::read_part(const json::value& email) const
{
    reading read;
    read.sequence = email["sequence"].integer();
    read.is_cut = is_cut(email);
    const auto codes = purpose_ == purpose::code ? codes_of(email) : std::vector<std::string>();
    const auto link = purpose_ == purpose::link ? find_link(email, kind_) : std::nullopt;
    const bool is_found = !codes.empty() || link;
    if (!is_found && email_.empty())
        return read;
    fence marks;
    json::writer out;
    begin(out, marks, is_found ? "found" : "none");
    marks.add_hidden(link ? link->removed : 0);
    if (purpose_ == purpose::code) {
        put_codes(out, codes);
    } else {
        out.key("link");
        if (link)
            put_link(out, *link, marks);
        else
            out.null();
    }
    out.member("after", read.sequence);
    put_source(out, email, marks);
    out.member("isCut", is_cut_ || read.is_cut);
    read.result = end(out, marks);
    return read;
}

// Nothing fitted in time; `answer` is the long poll's, where there is one.
tool_result mail_wait::not_yet(const json::value* answer) const
{
    fence marks;
    json::writer out;
    begin(out, marks, "not_yet");
    out.member("after", after_);
    if (purpose_ == purpose::email) {
        out.null_member("email");
        if (answer)
            put_near_misses(out, (*answer)["nearMisses"], marks);
        else
            out.key("nearMisses").begin_array().end_array();
        return end(out, marks);
    }
    if (purpose_ == purpose::code)
        put_codes(out, {});
    else
        out.null_member("link");
    put_no_source(out);
    out.member("isCut", is_cut_);
    return end(out, marks);
}

} // namespace tempinbox::gateway::mcp
