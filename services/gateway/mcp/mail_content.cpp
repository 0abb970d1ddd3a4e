#include "gateway/mcp/mail_content.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "html/link_host.hpp"
#include "html/link_marks.hpp"
#include "html/visible_page.hpp"

#include <algorithm>
#include <initializer_list>

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::size_t max_name = 200;    // of senders, files, links
constexpr std::size_t max_subject = 500; // of subjects and addresses
constexpr std::size_t max_url = 2'000;
constexpr std::size_t max_listed = 20; // addresses, links, attachments
constexpr std::size_t max_code = 32;
constexpr std::size_t max_codes = 5;

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
