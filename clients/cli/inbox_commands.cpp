#include "cli/browser.hpp"
#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "cli/waiting.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"

#include <algorithm>

namespace tempinbox::cli {
namespace {

using namespace std::chrono_literals;

constexpr const char* inbox_words = "An inbox: its id or its address";
constexpr std::int64_t page_size = 100;
constexpr std::int64_t usual_limit = 25;
constexpr std::int64_t max_listed = 1'000'000;
constexpr std::size_t max_tags = 10;
constexpr std::size_t max_tag_length = 50;
constexpr std::size_t max_pairs = 20;
constexpr std::size_t max_pair_key = 50;
constexpr std::size_t max_pair_value = 500;

[[noreturn]] void refuse(std::string message)
{
    throw failure_error({errc::invalid_argument, std::move(message)});
}

option quiet_option()
{
    return {.name = "quiet",
            .meaning = "Prints the ids alone, one a line",
            .takes = option::kind::flag};
}

void check_length(const std::string& name, const std::string& text, std::size_t max)
{
    const auto characters = is_valid_utf8(text) ? count_characters(text) : 0;
    if (characters < 1 || characters > max)
        refuse(name + " must be 1 to " + std::to_string(max) + " characters long, not " +
               quote(text));
}

std::vector<std::string> read_tags(const arguments& given)
{
    const auto tags = given.values("tag");
    if (tags.size() > max_tags)
        refuse("--tag may be given " + std::to_string(max_tags) + " times at most, not " +
               std::to_string(tags.size()));
    for (const auto& tag : tags)
        check_length("--tag", tag, max_tag_length);
    return tags;
}

std::map<std::string, std::string> read_metadata(const arguments& given)
{
    std::map<std::string, std::string> pairs;
    for (const auto& word : given.values("metadata")) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            refuse("--metadata must be NAME=VALUE, not " + quote(word));
        const auto name = word.substr(0, equals);
        const auto value = word.substr(equals + 1);
        check_length("the name of --metadata", name, max_pair_key);
        if (!is_valid_utf8(value) || count_characters(value) > max_pair_value)
            refuse("the value of --metadata " + quote(name) + " must be at most " +
                   std::to_string(max_pair_value) + " characters long");
        if (!pairs.emplace(name, value).second)
            refuse("--metadata " + quote(name) + " is given twice");
    }
    if (pairs.size() > max_pairs)
        refuse("--metadata may be given " + std::to_string(max_pairs) + " times at most, not " +
               std::to_string(pairs.size()));
    return pairs;
}

std::string creation_body(const arguments& given)
{
    json::writer out;
    out.begin_object();
    const auto add = [&out](std::string_view field, const std::optional<std::string>& text) {
        if (text)
            out.member(field, *text);
    };
    add("localPart", given.text("local-part", 1, 63));
    add("domain", given.text("domain", 1, 190));
    add("name", given.text("name", 1, 100));
    if (const auto ttl = given.duration("ttl", 60s, std::chrono::days(3650)))
        out.member("ttlSeconds", ttl->count());
    if (const auto tags = read_tags(given); !tags.empty())
        out.member("tags", tags);
    if (const auto pairs = read_metadata(given); !pairs.empty()) {
        out.key("metadata").begin_object();
        for (const auto& [name, value] : pairs)
            out.member(name, value);
        out.end_object();
    }
    out.end_object();
    return out.take();
}

awaitable<command_output> create(session& working, arguments given)
{
    const auto body = creation_body(given);
    const auto inbox =
        (co_await working.api().read({.method = "POST", .path = "/v1/inboxes", .body = body}))
            .value();
    const auto id = text_of(inbox, "inboxId");
    auto text = given.has("quiet") ? id + "\n"
                                   : to_fields({{"Address", text_of(inbox, "emailAddress")},
                                                {"Inbox", id},
                                                {"Ends", text_of(inbox, "expiresAt")}});
    co_return command_output{.text = std::move(text), .json = inbox.to_string()};
}

// The pages of a list, as one.
struct listing
{
    std::vector<json::value> items;
    std::string next_cursor;
};

awaitable<listing> read_list(session& working, std::string path, query filters, std::string name,
                             std::int64_t limit)
{
    listing read;
    for (;;) {
        const auto left = limit - static_cast<std::int64_t>(read.items.size());
        query page = filters;
        page.add("limit", std::optional(std::min(left, page_size)));
        if (!read.next_cursor.empty())
            page.add("cursor", std::optional(read.next_cursor));
        const auto part = (co_await working.api().read({.path = path + page.text()})).value();
        for (auto& item : items_of(part, name))
            read.items.push_back(std::move(item));
        read.next_cursor = text_of(part, "nextCursor");
        if (read.next_cursor.empty() || static_cast<std::int64_t>(read.items.size()) >= limit)
            co_return read;
    }
}

std::string to_json(const listing& read, std::string_view name)
{
    json::writer out;
    out.begin_object().key(name).begin_array();
    for (const auto& item : read.items)
        out.raw(item.to_string());
    out.end_array();
    if (read.next_cursor.empty())
        out.null_member("nextCursor");
    else
        out.member("nextCursor", read.next_cursor);
    return out.end_object().take();
}

command_output show_list(const arguments& given, const listing& read, std::string_view name,
                         std::string_view id_field, const std::vector<std::string>& headings,
                         const std::vector<std::vector<std::string>>& rows)
{
    command_output shown;
    shown.json = to_json(read, name);
    if (given.has("quiet"))
        for (const auto& item : read.items)
            shown.text += text_of(item, id_field) + "\n";
    else if (!rows.empty())
        shown.text = to_table(headings, rows);
    if (!read.next_cursor.empty() && !given.has("limit"))
        shown.complaint = "there are more than " + std::to_string(read.items.size()) +
                          ": --limit N shows more of them";
    else if (read.items.empty() && !given.has("quiet"))
        shown.complaint = "there are none";
    return shown;
}

awaitable<command_output> list_inboxes(session& working, arguments given, std::int64_t limit)
{
    for (const char* const name : {"from", "to", "subject", "after"})
        if (given.has(name))
            refuse("--" + std::string(name) +
                   " is for the emails of an inbox: tempinbox list INBOX");
    query filters;
    filters.add("status", given.value("status")).add("tag", given.text("tag", 1, max_tag_length));
    const auto read =
        co_await read_list(working, "/v1/inboxes", std::move(filters), "inboxes", limit);
    std::vector<std::vector<std::string>> rows;
    rows.reserve(read.items.size());
    for (const auto& inbox : read.items)
        rows.push_back({printable_line(text_of(inbox, "emailAddress")), text_of(inbox, "inboxId"),
                        text_of(inbox, "status"), std::to_string(integer_of(inbox, "emailCount")),
                        text_of(inbox, "expiresAt"), printable_line(text_of(inbox, "name"))});
    co_return show_list(given, read, "inboxes", "inboxId",
                        {"ADDRESS", "INBOX", "STATUS", "EMAILS", "ENDS", "NAME"}, rows);
}

awaitable<command_output> list_emails(session& working, arguments given, std::int64_t limit)
{
    for (const char* const name : {"status", "tag"})
        if (given.has(name))
            refuse("--" + std::string(name) + " is for inboxes, not for the emails of one");
    const auto wanted = read_criteria(given);
    const auto after = given.integer("after", 0, max_sequence);
    const auto inbox = (co_await working.find_inbox(given.words.front())).value();
    query filters;
    filters.add("from", wanted.from)
        .add("to", wanted.to)
        .add("subject", wanted.subject)
        .add("after", after);
    const auto read = co_await read_list(working, "/v1/inboxes/" + inbox + "/emails",
                                         std::move(filters), "emails", limit);
    std::vector<std::vector<std::string>> rows;
    rows.reserve(read.items.size());
    for (const auto& email : read.items)
        rows.push_back({std::to_string(integer_of(email, "sequence")), text_of(email, "emailId"),
                        text_of(email, "receivedAt"), printable_line(text_of(email, "from")),
                        printable_line(text_of(email, "subject"))});
    co_return show_list(given, read, "emails", "emailId",
                        {"SEQUENCE", "EMAIL", "RECEIVED", "FROM", "SUBJECT"}, rows);
}

awaitable<command_output> list(session& working, arguments given)
{
    const auto limit = given.integer("limit", 1, max_listed).value_or(usual_limit);
    if (given.words.empty())
        return list_inboxes(working, std::move(given), limit);
    return list_emails(working, std::move(given), limit);
}

command_output show_deleted(std::string text, std::int64_t count)
{
    json::writer out;
    out.begin_object().member("deleted", count).end_object();
    return {.text = std::move(text), .json = out.take()};
}

awaitable<command_output> delete_by_tag(session& working, std::string tag)
{
    query asked;
    asked.add("tag", std::optional(tag));
    const auto body =
        (co_await working.api().read({.method = "DELETE", .path = "/v1/inboxes" + asked.text()}))
            .value();
    const auto count = integer_of(body, "deleted");
    co_return show_deleted("ended " + std::to_string(count) + " inboxes with the tag " +
                               quote(printable_line(tag)) + "\n",
                           count);
}

// Each of them, also after one that is not there; the first failure decides the exit code.
awaitable<command_output> remove(session& working, arguments given)
{
    const auto tag = given.text("tag", 1, max_tag_length);
    const auto emails = given.values("email");
    if (given.words.empty() && emails.empty() && !tag)
        refuse("what to delete is missing: INBOX..., --tag TAG or --email ID");
    if (tag && (!given.words.empty() || !emails.empty()))
        refuse("--tag ends all inboxes with the tag: give no INBOX and no --email beside it");
    if (tag)
        co_return co_await delete_by_tag(working, *tag);
    std::vector<std::string> chosen; // all judged before the first is deleted
    chosen.reserve(emails.size());
    for (const auto& word : emails) {
        auto id = read_email_id(word).value();
        chosen.push_back(std::move(id));
    }

    std::string text;
    std::string complaint;
    std::int64_t count = 0;
    std::optional<failure> first;
    const auto note = [&](const std::string& what, const result<json::value>& outcome) {
        if (outcome) {
            text += "deleted " + what + "\n";
            ++count;
            return;
        }
        complaint += (complaint.empty() ? "" : "\ntempinbox: ") + outcome.error().message;
        if (!first)
            first = outcome.error();
    };
    for (const auto& word : given.words) {
        const auto inbox = co_await working.find_inbox(word);
        result<json::value> outcome = failure{};
        if (inbox)
            outcome =
                co_await working.api().read({.method = "DELETE", .path = "/v1/inboxes/" + *inbox});
        else
            outcome = inbox.error();
        note("inbox " + printable_line(word), outcome);
    }
    for (const auto& email : chosen) {
        const auto outcome =
            co_await working.api().read({.method = "DELETE", .path = "/v1/emails/" + email});
        note("email " + email, outcome);
    }
    auto shown = show_deleted(std::move(text), count);
    shown.complaint = std::move(complaint);
    if (first)
        shown.code = exit_code_of(first->code);
    co_return shown;
}

awaitable<command_output> open_page(session& working, arguments given)
{
    std::string path;
    if (const auto word = given.value("email")) {
        if (!given.words.empty())
            refuse("give an INBOX or --email, not both");
        const auto id = read_email_id(*word).value();
        const auto email = (co_await working.api().read({.path = "/v1/emails/" + id})).value();
        path = "/inboxes/" + text_of(email, "inboxId") + "/" + text_of(email, "emailId");
    } else if (!given.words.empty()) {
        path = "/inboxes/" + (co_await working.find_inbox(given.words.front())).value();
    }
    const auto url = working.api().dashboard_url(path);
    json::writer out;
    out.begin_object().member("url", url).end_object();
    command_output shown{.text = url + "\n", .json = out.take()};
    if (given.has("print"))
        co_return shown;
    const auto opened = co_await open_in_browser(url);
    if (!opened) {
        shown.complaint = opened.error().message;
        shown.code = exit_code_of(opened.error().code);
    }
    co_return shown;
}

command create_command()
{
    return {
        .name = "create",
        .purpose = "Makes an inbox",
        .takes = {},
        .options =
            {
                {.name = "local-part",
                 .value = "TEXT",
                 .meaning = "What stands before the @ (default: random)"},
                {.name = "domain", .value = "DOMAIN", .meaning = "One of the service's domains"},
                {.name = "ttl",
                 .value = "TIME",
                 .meaning = "How long it lives, such as 15m or 7d (default: the plan's)"},
                {.name = "name", .value = "TEXT", .meaning = "For your eyes"},
                {.name = "tag",
                 .value = "TAG",
                 .meaning = "To find and end inboxes by; up to ten times",
                 .takes = option::kind::repeated},
                {.name = "metadata",
                 .value = "NAME=VALUE",
                 .meaning = "A pair that comes back as it is; up to 20 times",
                 .takes = option::kind::repeated},
                quiet_option(),
            },
        .run = create};
}

command list_command()
{
    command made{
        .name = "list",
        .purpose = "Lists inboxes, or the emails of one",
        .takes = {.name = "INBOX", .meaning = inbox_words, .min = 0, .max = 1, .choices = {}},
        .options = {{.name = "status",
                     .value = "STATUS",
                     .meaning = "Which inboxes: active (default), expired or all",
                     .choices = {"active", "expired", "all"}},
                    {.name = "tag", .value = "TAG", .meaning = "Inboxes with the tag"}},
        .run = list};
    for (auto& filter : criteria_options())
        made.options.push_back(std::move(filter));
    made.options.push_back(
        {.name = "after", .value = "N", .meaning = "Emails with a higher sequence"});
    made.options.push_back(
        {.name = "limit", .value = "N", .meaning = "How many at most (default 25)"});
    made.options.push_back(quiet_option());
    return made;
}

command rm_command()
{
    return {.name = "rm",
            .purpose = "Ends inboxes with their mail, or deletes emails",
            .takes = {.name = "INBOX", .meaning = inbox_words, .min = 0, .max = 100, .choices = {}},
            .options = {{.name = "tag", .value = "TAG", .meaning = "All inboxes with the tag"},
                        {.name = "email",
                         .value = "ID",
                         .meaning = "An email, in place of an inbox",
                         .takes = option::kind::repeated}},
            .run = remove};
}

command open_command()
{
    return {.name = "open",
            .purpose = "Opens the dashboard, an inbox or an email in the browser",
            .takes = {.name = "INBOX", .meaning = inbox_words, .min = 0, .max = 1, .choices = {}},
            .options = {{.name = "email", .value = "ID", .meaning = "An email"},
                        {.name = "print",
                         .meaning = "Prints the address alone, opens nothing",
                         .takes = option::kind::flag}},
            .run = open_page};
}

} // namespace

std::vector<command> inbox_commands()
{
    return {create_command(), list_command(), rm_command(), open_command()};
}

} // namespace tempinbox::cli
