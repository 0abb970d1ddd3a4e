#include "gateway/mcp/mail_content.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "html/invisible.hpp"
#include "html/link_host.hpp"
#include "html/link_marks.hpp"
#include "html/text.hpp"
#include "html/visible_page.hpp"

#include <algorithm>
#include <initializer_list>

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::size_t max_name = 200;    // of senders, files, links
constexpr std::size_t max_subject = 500; // of subjects and addresses
constexpr std::size_t max_url = 2'000;
constexpr std::size_t max_listed = 20; // recipients, links, attachments
constexpr std::size_t max_code = 32;
constexpr std::size_t max_codes = 5;
// What is past this is not read: it holds far more than a result may have.
constexpr std::size_t max_part = 512 * 1024;

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
    bool is_html = false; // what else the mail has is seen only if this shows it
    bool is_cut = false;  // it has more than was read
    html::visible_page page;
};

// Where the HTML shows nothing, as a single picture does, the other part is what can be read; text
// that was derived from HTML would bring back what was hidden there.
std::string text_beside(const std::string& html, std::string text)
{
    return html.empty() || text != html::to_text(html, text.size()) ? text : std::string();
}

// HTML first: that is what a person sees where a mail has both.
seen_mail see(const json::value& email)
{
    const auto html = text_of(email, "html");
    seen_mail seen;
    seen.is_html = !html.empty();
    seen.page = html::read_visible_page(take_bytes(html, max_part));
    seen.is_cut = seen.page.is_cut || html.size() > max_part;
    seen.text = seen.page.text;
    if (!seen.text.empty())
        return seen;
    const auto text = text_beside(html, text_of(email, "text"));
    seen.is_cut = seen.is_cut || text.size() > max_part;
    seen.text = html::without_link_marks(take_bytes(text, max_part));
    return seen;
}

// Letters and digits of ASCII and what separates them, so that a code is found however it is set:
// `482 913`, `482-913`, full-width, in Arabic digits.
std::string squeeze(std::string_view text)
{
    constexpr std::string_view dropped = " -\t\r\n";
    // Arabic, Persian, Devanagari, Bengali, Thai, full-width; digits, then letters of the last.
    struct fold
    {
        char32_t first, last;
        char to;
    };
    constexpr fold folds[] = {{0x660, 0x669, '0'},   {0x6f0, 0x6f9, '0'},  {0x966, 0x96f, '0'},
                              {0x9e6, 0x9ef, '0'},   {0xe50, 0xe59, '0'},  {0xff10, 0xff19, '0'},
                              {0xff21, 0xff3a, 'A'}, {0xff41, 0xff5a, 'a'}};
    const auto clean = html::remove_invisible(text).text;
    std::string squeezed;
    for (std::size_t at = 0; at < clean.size();) {
        const auto point = html::take_point(clean, at);
        if (point < 0x80 && dropped.find(static_cast<char>(point)) == std::string_view::npos)
            squeezed += static_cast<char>(point);
        for (const auto& one : folds)
            if (point >= one.first && point <= one.last)
                squeezed += static_cast<char>(one.to + static_cast<char>(point - one.first));
    }
    return squeezed;
}

std::vector<std::string> codes_of(const json::value& email, const seen_mail& seen)
{
    const auto shown =
        seen.is_html ? squeeze(text_of(email, "subject")) + '\n' + squeeze(seen.text) : "";
    std::vector<std::string> codes;
    for (const auto& one : email["codes"].items()) {
        auto code = text_of(one, "value");
        const bool is_seen = !seen.is_html || shown.find(squeeze(code)) != std::string::npos;
        if (codes.size() < max_codes && is_plain_code(code) && is_seen &&
            std::find(codes.begin(), codes.end(), code) == codes.end())
            codes.push_back(std::move(code));
    }
    return codes;
}

// The web addresses that a text shows, each to the next blank, in order.
std::vector<std::string_view> shown_urls(std::string_view text)
{
    constexpr std::string_view ends = " \t\r\n<>\"";
    std::vector<std::string_view> urls;
    for (auto at = text.find("://"); at < text.size(); at = text.find("://", at)) {
        const auto end = std::min(text.find_first_of(ends, at), text.size());
        for (const std::string_view scheme : {"http", "https"})
            if (at >= scheme.size() &&
                equals_ignoring_ascii_case(text.substr(at - scheme.size(), scheme.size()), scheme))
                urls.push_back(text.substr(at - scheme.size(), end - at + scheme.size()));
        at = end;
    }
    std::sort(urls.begin(), urls.end());
    return urls;
}

std::vector<mail_link> links_of(const json::value& email, const seen_mail& seen)
{
    const auto urls = seen.is_html ? shown_urls(seen.text) : std::vector<std::string_view>();
    std::vector<mail_link> links;
    for (const auto& one : email["links"].items()) {
        mail_link link{text_of(one, "kind"), text_of(one, "url"), text_of(one, "text"), 0};
        const auto held = seen.page.links.find(link.url);
        const auto near = std::lower_bound(urls.begin(), urls.end(), link.url);
        if (held != seen.page.links.end()) {
            link.text = held->second.text;
            link.removed = held->second.removed;
        } else if (seen.is_html && (near == urls.end() || !near->starts_with(link.url))) {
            continue;
        } else if (seen.is_html) {
            link.text.clear(); // words before it may be hidden
        }
        links.push_back(std::move(link));
    }
    return links;
}

void put_links(json::writer& out, const std::vector<mail_link>& links, fence& marks)
{
    out.key("links").begin_array();
    for (std::size_t i = 0; i < std::min(links.size(), max_listed); ++i)
        put_link(out, links[i], marks);
    out.end_array().member("linkCount", links.size());
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
    marks.add_hidden(seen.page.removed);
    json::writer out;
    out.begin_object();
    marks.put_notice(out);
    copy(out, email, {"emailId", "inboxId", "sequence", "receivedAt"});
    put_fenced(out, "from", text_of(email, "from"), max_subject, marks);
    put_fenced(out, "fromName", text_of(email, "fromName"), max_name, marks);
    out.key("to").begin_array();
    const auto recipients = email["toHeader"].items();
    for (std::size_t i = 0; i < std::min(recipients.size(), max_listed); ++i)
        out.value(marks.wrap(html::without_link_marks(recipients[i].text()), max_subject));
    out.end_array();
    put_fenced(out, "subject", text_of(email, "subject"), max_subject, marks);
    out.member("text", seen.text.empty() ? std::nullopt
                                         : std::optional(marks.wrap(seen.text, max_characters)));
    out.member("codes", codes_of(email, seen));
    put_links(out, links_of(email, seen), marks);
    put_attachments(out, email["attachments"].items(), marks);
    out.member("isCut", seen.is_cut || marks.was_cut());
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

std::vector<std::string> codes_of(const json::value& email, extent* seen)
{
    if (email["codes"].items().empty())
        return {};
    const auto mail = see(email);
    if (seen)
        *seen = {mail.is_cut, mail.page.steps};
    return codes_of(email, mail);
}

std::optional<mail_link> find_link(const json::value& email, const std::optional<std::string>& kind,
                                   extent* seen)
{
    if (email["links"].items().empty())
        return std::nullopt;
    const auto mail = see(email);
    if (seen)
        *seen = {mail.is_cut, mail.page.steps};
    const auto links = links_of(email, mail);
    const std::vector<std::string> kinds =
        kind ? std::vector<std::string>{*kind}
             : std::vector<std::string>{"verify", "reset", "other"};
    for (const auto& wanted : kinds) {
        const auto found = std::find_if(links.begin(), links.end(),
                                        [&](const auto& link) { return link.kind == wanted; });
        if (found != links.end())
            return *found;
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
