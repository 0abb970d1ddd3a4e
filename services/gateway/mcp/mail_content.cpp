#include "gateway/mcp/mail_content.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "html/link_host.hpp"
#include "html/link_marks.hpp"
#include "html/visible_page.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::size_t max_name = 200;    // of senders, files, links
constexpr std::size_t max_subject = 500; // of subjects and addresses
constexpr std::size_t max_url = 2'000;
constexpr std::size_t max_listed = 20; // addresses, links, attachments
constexpr std::size_t max_code = 32;
constexpr std::size_t max_codes = 5;
constexpr std::int64_t max_attempts = 50;        // of a sender report
constexpr std::size_t max_report_recipients = 3; // of a message of it, and of an attempt

std::string text_of(const json::value& object, std::string_view name)
{
    const auto found = object.find(name);
    return found && found->is_string() ? found->text() : std::string();
}

// Members of ours, as they are.
void copy(json::writer& out, const json::value& from, std::initializer_list<const char*> names)
{
    for (const auto* name : names)
        out.key(name).raw(from[name].to_string());
}

void put_fenced(json::writer& out, std::string_view name, std::string_view text,
                std::size_t max_characters, fence& marks)
{
    out.member(name, marks.wrap(html::without_link_marks(text), max_characters));
}

// Words are in groups: `DELETE-ALL-1`, `SEND-KEYS-TO-ME-1`. Two groups of up to four letters, as in
// `ABC-123` and `QRW-KTP`, are codes of well-known senders and too short for an order.
bool has_words(std::string_view code)
{
    constexpr std::size_t min_word = 3, min_long_word = 5, max_words = 2;
    std::size_t letters = 0, words = 0, longest = 0, hyphens = 0;
    for (const char c : code) {
        letters = is_letter(c) ? letters + 1 : 0;
        longest = std::max(longest, letters);
        words += letters == min_word ? 1 : 0;
        hyphens += c == '-' ? 1 : 0;
    }
    return hyphens > 0 &&
           (longest >= min_long_word || words > max_words || (hyphens > 1 && longest >= min_word));
}

bool is_plain_code(std::string_view code)
{
    return !code.empty() && code.size() <= max_code && !has_words(code) &&
           std::all_of(code.begin(), code.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

// What a person sees of a mail.
struct seen_mail
{
    std::string text;
    html::linked_page linked;
};

// HTML first: that is what a person sees where a mail has both. Where it shows nothing, as a single
// picture does, the text is what can be read.
seen_mail see(const json::value& email)
{
    seen_mail seen;
    seen.linked = html::read_linked_page(text_of(email, "html"));
    seen.text = seen.linked.page.shows_text ? seen.linked.page.text
                                            : html::without_link_marks(text_of(email, "text"));
    return seen;
}

// With the words that a person sees of it.
mail_link to_link(const json::value& listed, const html::linked_page& seen)
{
    mail_link link{text_of(listed, "kind"), text_of(listed, "url"), text_of(listed, "text"), 0};
    const auto held = seen.links.find(link.url);
    if (held != seen.links.end()) {
        link.text = held->second.text;
        link.removed = held->second.removed;
    }
    return link;
}

void put_links(json::writer& out, const std::vector<json::value>& links,
               const html::linked_page& seen, fence& marks)
{
    out.key("links").begin_array();
    for (std::size_t i = 0; i < std::min(links.size(), max_listed); ++i)
        put_link(out, to_link(links[i], seen), marks);
    out.end_array().member("linkCount", links.size());
}

void put_addresses(json::writer& out, const std::vector<json::value>& addresses, fence& marks)
{
    out.key("to").begin_array();
    for (std::size_t i = 0; i < std::min(addresses.size(), max_listed); ++i) {
        out.begin_object();
        put_fenced(out, "address", text_of(addresses[i], "address"), max_subject, marks);
        put_fenced(out, "name", text_of(addresses[i], "name"), max_name, marks);
        out.end_object();
    }
    out.end_array();
}

void put_refused(json::writer& out, const std::vector<json::value>& refused, fence& marks)
{
    out.key("refused").begin_array();
    for (std::size_t i = 0; i < std::min(refused.size(), max_report_recipients); ++i) {
        out.begin_object();
        put_fenced(out, "recipient", text_of(refused[i], "recipient"), max_subject, marks);
        copy(out, refused[i], {"reply", "step"});
        out.end_object();
    }
    out.end_array();
}

// Its attempts from a number on, and the pauses between these.
void put_attempts(json::writer& out, const json::value& message, std::int64_t first, fence& marks)
{
    const auto attempts = message["attempts"].items();
    std::size_t skipped = 0;
    while (skipped < attempts.size() && attempts[skipped]["number"].integer() < first)
        ++skipped;
    out.key("attempts").begin_array();
    for (auto i = skipped; i < attempts.size(); ++i) {
        out.begin_object();
        copy(out, attempts[i], {"number", "at", "stage", "reply", "step"});
        put_refused(out, attempts[i]["refused"].items(), marks);
        copy(out, attempts[i], {"remoteAddress", "tls", "pipelined", "chunked"});
        out.end_object();
    }
    out.end_array();
    const auto delays = message["delaysSeconds"].items();
    out.key("delaysSeconds").begin_array();
    for (auto i = skipped; i < delays.size(); ++i)
        out.raw(delays[i].to_string());
    out.end_array();
}

void put_sent_message(json::writer& out, const json::value& message, std::int64_t first,
                      fence& marks)
{
    out.begin_object();
    if (message["messageId"].is_null())
        out.null_member("messageId");
    else
        put_fenced(out, "messageId", text_of(message, "messageId"), max_subject, marks);
    put_fenced(out, "mailFrom", text_of(message, "mailFrom"), max_subject, marks);
    const auto recipients = message["recipients"].items();
    out.key("recipients").begin_array();
    for (std::size_t i = 0; i < std::min(recipients.size(), max_report_recipients); ++i)
        out.value(marks.wrap(html::without_link_marks(recipients[i].text()), max_subject));
    out.end_array();
    copy(out, message, {"recipientCount"});
    put_attempts(out, message, first, marks);
    copy(out, message, {"state"});
    const auto emails = message["emailIds"].items();
    out.key("emailIds").begin_array();
    for (std::size_t i = 0; i < std::min(emails.size(), max_listed); ++i)
        out.value(emails[i].text());
    out.end_array();
    copy(out, message, {"ambiguous"});
    out.end_object();
}

void put_attachments(json::writer& out, const std::vector<json::value>& attachments, fence& marks)
{
    out.key("attachments").begin_array();
    for (std::size_t i = 0; i < std::min(attachments.size(), max_listed); ++i) {
        const auto& one = attachments[i];
        out.begin_object();
        copy(out, one, {"attachmentId"});
        put_fenced(out, "filename", text_of(one, "filename"), max_name, marks);
        put_fenced(out, "contentType", text_of(one, "contentType"), max_name, marks);
        copy(out, one, {"sizeBytes"});
        out.end_object();
    }
    out.end_array().member("attachmentCount", attachments.size());
}

} // namespace

std::string whole_email(const json::value& email, std::size_t max_characters)
{
    fence marks;
    const auto seen = see(email);
    marks.add_hidden(seen.linked.page.removed);
    json::writer out;
    out.begin_object();
    marks.put_notice(out);
    copy(out, email, {"emailId", "inboxId", "sequence", "receivedAt"});
    put_fenced(out, "from", text_of(email, "from"), max_subject, marks);
    put_fenced(out, "fromName", text_of(email, "fromName"), max_name, marks);
    put_addresses(out, email["to"].items(), marks);
    put_fenced(out, "subject", text_of(email, "subject"), max_subject, marks);
    out.member("text", seen.text.empty() ? std::nullopt
                                         : std::optional(marks.wrap(seen.text, max_characters)));
    out.member("codes", codes_of(email));
    put_links(out, email["links"].items(), seen.linked, marks);
    put_attachments(out, email["attachments"].items(), marks);
    out.member("isCut", seen.linked.page.is_cut || marks.was_cut());
    marks.put_hidden(out);
    out.end_object();
    return out.take();
}

std::string short_sender_report(const json::value& report)
{
    const auto messages = report["messages"].items();
    std::int64_t attempts = 0; // numbered from 1 on, in the order of time
    for (const auto& message : messages)
        attempts += static_cast<std::int64_t>(message["attempts"].size());
    const auto first = attempts - std::min(attempts, max_attempts) + 1;
    fence marks;
    json::writer out;
    out.begin_object();
    marks.put_notice(out);
    out.key("messages").begin_array();
    for (const auto& message : messages)
        if (message["attempts"][message["attempts"].size() - 1]["number"].integer() >= first)
            put_sent_message(out, message, first, marks);
    out.end_array();
    out.member("attemptCount", attempts);
    copy(out, report, {"marks"});
    const auto faults = report["notApplied"].items();
    out.key("notApplied").begin_array();
    for (auto i = faults.size() - std::min(faults.size(), max_listed); i < faults.size(); ++i)
        out.raw(faults[i].to_string());
    out.end_array();
    marks.put_hidden(out);
    out.end_object();
    return out.take();
}

void put_summary(json::writer& out, const json::value& email, fence& marks)
{
    out.begin_object();
    copy(out, email, {"emailId", "inboxId", "sequence", "receivedAt"});
    put_fenced(out, "from", text_of(email, "from"), max_subject, marks);
    put_fenced(out, "fromName", text_of(email, "fromName"), max_name, marks);
    put_fenced(out, "subject", text_of(email, "subject"), max_subject, marks);
    copy(out, email, {"attachmentCount"});
    out.end_object();
}

void put_near_misses(json::writer& out, const json::value& misses, fence& marks)
{
    out.key("nearMisses").begin_array();
    for (const auto& one : misses.items()) {
        out.begin_object();
        copy(out, one, {"emailId", "field", "expected"});
        put_fenced(out, "actual", text_of(one, "actual"), max_subject, marks);
        out.end_object();
    }
    out.end_array();
}

void put_source(json::writer& out, const json::value& email, fence& marks)
{
    copy(out, email, {"emailId"});
    put_fenced(out, "from", text_of(email, "from"), max_subject, marks);
    put_fenced(out, "subject", text_of(email, "subject"), max_subject, marks);
}

void put_no_source(json::writer& out)
{
    out.null_member("emailId").null_member("from").null_member("subject");
}

std::vector<std::string> codes_of(const json::value& email)
{
    std::vector<std::string> codes;
    for (const auto& one : email["codes"].items()) {
        auto code = text_of(one, "value");
        if (codes.size() < max_codes && is_plain_code(code) &&
            std::find(codes.begin(), codes.end(), code) == codes.end())
            codes.push_back(std::move(code));
    }
    return codes;
}

bool is_cut(const json::value& email)
{
    const auto listed = email.find("defects");
    const auto defects = listed ? listed->items() : std::vector<json::value>();
    return std::any_of(defects.begin(), defects.end(),
                       [](const json::value& defect) { return defect.text() == "html_cut"; });
}

std::optional<mail_link> find_link(const json::value& email, const std::optional<std::string>& kind)
{
    const auto links = email["links"].items();
    const std::vector<std::string> kinds =
        kind ? std::vector<std::string>{*kind}
             : std::vector<std::string>{"verify", "reset", "other"};
    for (const auto& wanted : kinds) {
        const auto found = std::find_if(links.begin(), links.end(), [&](const json::value& link) {
            return link["kind"].text() == wanted;
        });
        if (found != links.end())
            return to_link(*found, html::read_linked_page(text_of(email, "html")));
    }
    return std::nullopt;
}

void put_link(json::writer& out, const mail_link& link, fence& marks)
{
    out.begin_object().member("kind", link.kind);
    out.member("url", marks.wrap(link.url, max_url));
    put_fenced(out, "host", html::link_host(link.url), max_name, marks);
    put_fenced(out, "text", link.text, max_name, marks);
    out.end_object();
}

} // namespace tempinbox::gateway::mcp
