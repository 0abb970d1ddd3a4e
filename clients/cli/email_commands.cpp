#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/mail_links.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/waiting.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>

namespace tempinbox::cli {
namespace {

constexpr std::size_t max_misses = 10; // shown
constexpr const char* inbox_words = "An inbox: its id or its address";

[[noreturn]] void refuse(std::string message)
{
    throw failure_error({errc::invalid_argument, std::move(message)});
}

// What a wait was asked for.
struct wait_params
{
    std::string inbox;
    criteria wanted;
    std::int64_t after = 0;
    std::chrono::seconds hold = standard_hold;
    std::chrono::seconds timeout{60};
};

awaitable<wait_params> read_request(session& working, arguments given)
{
    wait_params asked;
    asked.wanted = read_criteria(given);
    asked.hold = read_hold(given, standard_hold);
    asked.timeout = read_timeout(given);
    if (given.value("after") != "latest")
        asked.after = given.integer("after", 0, max_sequence).value_or(0);
    asked.inbox = (co_await working.find_inbox(given.words.front())).value();
    asked.after = (co_await read_position(working, asked.inbox, std::move(given))).value();
    co_return asked;
}

awaitable<command_output> not_in_time(session& working, wait_params asked, wait_result ended)
{
    auto why =
        co_await explain_timeout(working.api(), asked.inbox, asked.wanted, ended, asked.timeout);
    co_return command_output{.json = ended.whole.to_string(),
                             .code = exit_code::not_in_time,
                             .complaint = std::move(why)};
}

std::string describe_email(const json::value& email)
{
    const auto name = printable_line(text_of(email, "fromName"));
    const auto address = printable_line(text_of(email, "from"));
    std::vector<std::pair<std::string, std::string>> fields{
        {"From", name.empty() ? address : name + " <" + address + ">"},
        {"Subject", printable_line(text_of(email, "subject"))},
        {"Received", text_of(email, "receivedAt")},
        {"Email", text_of(email, "emailId")},
        {"Sequence", std::to_string(integer_of(email, "sequence"))}};
    for (const auto& code : items_of(email, "codes"))
        fields.emplace_back("Code", printable_line(text_of(code, "value")));
    for (const auto& link : items_of(email, "links"))
        fields.emplace_back("Link", printable_line(text_of(link, "url")) + " (" +
                                        printable_line(text_of(link, "kind")) + ")");
    for (const auto& file : items_of(email, "attachments"))
        fields.emplace_back("Attachment", printable_line(text_of(file, "attachmentId")) + "  " +
                                              printable_line(text_of(file, "filename")) + "  " +
                                              printable_line(text_of(file, "contentType")) + "  " +
                                              std::to_string(integer_of(file, "sizeBytes")) +
                                              " bytes");
    return to_fields(fields);
}

awaitable<command_output> wait(session& working, arguments given)
{
    const auto asked = co_await read_request(working, given);
    const auto until = async::deadline::after(asked.timeout);
    std::optional<wait_result> ended;
    {
        const progress shown(working.loop(), "waiting for mail:", asked.timeout);
        ended = (co_await wait_for_email(working.api(), asked.inbox, asked.wanted, asked.after,
                                         asked.hold, until))
                    .value();
    }
    const bool is_matched = ended->ended == wait_result::outcome::matched;
    if (!is_matched && asked.wanted.expects_none)
        co_return command_output{.text = "no email came within " + to_text(asked.timeout) + "\n",
                                 .json = ended->whole.to_string()};
    if (!is_matched)
        co_return co_await not_in_time(working, asked, *ended);

    const auto email = ended->email();
    command_output output{.text = given.has("quiet") ? text_of(email, "emailId") + "\n"
                                                     : describe_email(email),
                          .json = ended->whole.to_string()};
    if (asked.wanted.expects_none) {
        output.code = exit_code::not_in_time;
        output.complaint = "an email came though none was to come";
    }
    co_return output;
}

// `fields` of the value, and which email it is of.
std::string to_json(const json::value& found, const json::value& email, std::string_view renamed)
{
    json::writer out;
    out.begin_object();
    for (const auto& [name, value] : found.members())
        out.key(name == "value" ? renamed : std::string_view(name)).raw(value.to_string());
    out.member("emailId", text_of(email, "emailId"));
    out.member("sequence", integer_of(email, "sequence"));
    return out.end_object().take();
}

awaitable<command_output> code(session& working, arguments given)
{
    auto asked = co_await read_request(working, given);
    asked.wanted.has_code = true;
    const auto until = async::deadline::after(asked.timeout);
    std::optional<wait_result> ended;
    {
        const progress shown(working.loop(), "waiting for a code:", asked.timeout);
        ended = (co_await wait_for_email(working.api(), asked.inbox, asked.wanted, asked.after,
                                         asked.hold, until))
                    .value();
    }
    if (ended->ended != wait_result::outcome::matched)
        co_return co_await not_in_time(working, asked, *ended);
    const auto email = ended->email();
    const auto codes = items_of(email, "codes");
    if (codes.empty())
        throw failure_error({errc::unavailable, "the service answered an email without a code"});
    co_return command_output{.text = printable_line(text_of(codes.front(), "value")) + "\n",
                             .json = to_json(codes.front(), email, "code")};
}

// What the API answers where a wait ends without an email.
json::value nothing_came()
{
    return json::value::parse(R"({"outcome":"timeout","email":null,"nearMisses":[]})").value();
}

// The API waits for emails, not for links: those without one are passed over.
awaitable<command_output> link(session& working, arguments given)
{
    auto asked = co_await read_request(working, given);
    const auto kind = given.value("kind");
    const auto until = async::deadline::after(asked.timeout);
    std::deque<std::string> without_link; // the newest first
    std::optional<wait_result> ended;
    {
        const progress shown(working.loop(), "waiting for a link:", asked.timeout);
        for (;;) {
            ended = (co_await wait_for_email(working.api(), asked.inbox, asked.wanted, asked.after,
                                             asked.hold, until))
                        .value();
            if (ended->ended != wait_result::outcome::matched)
                break;
            const auto email = ended->email();
            if (const auto chosen = choose_link(email, kind))
                co_return command_output{.text = printable_line(text_of(*chosen, "url")) + "\n",
                                         .json = to_json(*chosen, email, "value")};
            without_link.push_front("\n  near miss: no " + (kind ? *kind + " " : std::string()) +
                                    "link in " + quote(printable_line(text_of(email, "subject"))) +
                                    " (tempinbox read " + text_of(email, "emailId") + ")");
            without_link.resize(std::min(without_link.size(), max_misses));
            asked.after = integer_of(email, "sequence");
            // The next request would be sent all the same, and there may be thousands of emails.
            if (until.has_passed()) {
                ended = wait_result{wait_result::outcome::timeout, nothing_came()};
                break;
            }
        }
    }
    auto output = co_await not_in_time(working, asked, *ended);
    const auto first_line = std::min(output.complaint.find('\n'), output.complaint.size());
    std::string misses;
    for (const auto& one : without_link)
        misses += one;
    output.complaint.insert(first_line, misses);
    co_return output;
}

// Bytes for a file or a pipe; a terminal gets them without what could command it.
command_output show_bytes(const std::string& bytes)
{
    return {.text = ::isatty(STDOUT_FILENO) == 1 ? printable(bytes) : bytes};
}

void write_file(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << bytes;
    file.close();
    if (!file)
        throw failure_error({errc::internal, "the file " + quote(path) +
                                                 " cannot be written: " + std::strerror(errno)});
}

// The newest email of an inbox, where the word is its address.
awaitable<std::string> find_email(session& working, std::string word)
{
    if (word.find('@') == std::string::npos)
        co_return read_email_id(word).value();
    const auto inbox = (co_await working.find_inbox(word)).value();
    const auto newest =
        (co_await working.api().read({.path = "/v1/inboxes/" + inbox + "/emails?limit=1"})).value();
    const auto emails = items_of(newest, "emails");
    if (emails.empty())
        throw failure_error({errc::not_found, "the inbox " + quote(word) +
                                                  " has no email; `tempinbox wait` waits for one"});
    co_return text_of(emails.front(), "emailId");
}

awaitable<std::string> read_bytes(session& working, std::string path, std::string accept)
{
    const auto until = async::deadline::after(std::chrono::minutes(2));
    api_call call{.path = std::move(path), .accept = std::move(accept)};
    call.timeout = std::chrono::minutes(1);
    const auto response = (co_await working.api().send(std::move(call), until)).value();
    co_return response.body;
}

std::string whole_text(const json::value& email)
{
    auto text = describe_email(email) + "\n" + printable(text_of(email, "text"));
    if (!text.ends_with('\n'))
        text += '\n';
    return text;
}

std::string headers_text(const json::value& email)
{
    std::string text;
    for (const auto& header : items_of(email, "headers"))
        text += printable_line(text_of(header, "name")) + ": " +
                printable_line(text_of(header, "value")) + "\n";
    return text;
}

awaitable<command_output> read_parts(session& working, arguments given, std::string id)
{
    if (given.has("raw"))
        co_return show_bytes(
            co_await read_bytes(working, "/v1/emails/" + id + "/raw", "message/rfc822"));
    if (const auto attachment = given.text("attachment", 1, 100)) {
        if (!given.has("output") && ::isatty(STDOUT_FILENO) == 1)
            refuse("an attachment may be anything: give --output FILE, or a pipe");
        co_return command_output{.text = co_await read_bytes(working,
                                                             "/v1/emails/" + id + "/attachments/" +
                                                                 encode_component(*attachment),
                                                             "application/octet-stream")};
    }
    const auto email = (co_await working.api().read({.path = "/v1/emails/" + id})).value();
    command_output output;
    if (given.has("html")) {
        output = show_bytes(text_of(email, "html"));
        if (output.text.empty())
            throw failure_error({errc::not_found, "the email has no HTML part"});
    } else {
        output.text = given.has("headers") ? headers_text(email) : whole_text(email);
    }
    output.json = email.to_string();
    co_return output;
}

awaitable<command_output> read(session& working, arguments given)
{
    int forms = 0;
    for (const char* const form : {"html", "raw", "headers", "attachment"})
        forms += given.has(form) ? 1 : 0;
    if (forms > 1)
        refuse("give one of --html, --raw, --headers and --attachment");
    if (working.is_json() && (given.has("raw") || given.has("attachment")))
        refuse("--raw and --attachment give bytes as they are, not JSON");
    const auto id = co_await find_email(working, given.words.front());
    auto output = co_await read_parts(working, given, id);
    if (const auto path = given.value("output")) {
        write_file(*path, working.is_json() ? output.json + "\n" : output.text);
        json::writer out;
        out.begin_object().member("file", *path).end_object();
        output.text.clear();
        output.json = out.take();
    }
    co_return output;
}

option kind_option()
{
    return {.name = "kind",
            .value = "KIND",
            .meaning = "verify, reset, unsubscribe or other (default: the first of verify, reset, "
                       "other that there is)",
            .choices = {"verify", "reset", "unsubscribe", "other"}};
}

command waiting_command(std::string name, std::string purpose, std::vector<option> more)
{
    command made{
        .name = std::move(name),
        .purpose = std::move(purpose),
        .takes = {.name = "INBOX", .meaning = inbox_words, .min = 1, .max = 1, .choices = {}},
        .options = wait_options(),
        .run = {}};
    for (auto& one : more)
        made.options.push_back(std::move(one));
    return made;
}

command wait_command()
{
    auto made = waiting_command(
        "wait", "Waits for an email",
        {{.name = "code", .meaning = "With a one-time code", .takes = option::kind::flag},
         {.name = "none",
          .meaning = "None must come: 0 if none came in the whole time",
          .takes = option::kind::flag},
         {.name = "quiet", .meaning = "Prints the email's id alone", .takes = option::kind::flag}});
    made.run = wait;
    return made;
}

command code_command()
{
    auto made = waiting_command("code", "Waits for a one-time code and prints it", {});
    made.run = code;
    return made;
}

command link_command()
{
    auto made = waiting_command("link", "Waits for a link and prints it", {kind_option()});
    made.run = link;
    return made;
}

command read_command()
{
    return {
        .name = "read",
        .purpose = "Shows an email",
        .takes = {.name = "EMAIL",
                  .meaning = "An email's id, or the address of an inbox: its newest email",
                  .min = 1,
                  .max = 1,
                  .choices = {}},
        .options =
            {
                {.name = "html", .meaning = "The HTML as sent", .takes = option::kind::flag},
                {.name = "raw",
                 .meaning = "The message as received (.eml)",
                 .takes = option::kind::flag},
                {.name = "headers", .meaning = "The headers alone", .takes = option::kind::flag},
                {.name = "attachment", .value = "ID", .meaning = "An attachment's bytes"},
                {.name = "output",
                 .value = "FILE",
                 .meaning = "Writes to the file",
                 .is_file = true},
            },
        .run = read};
}

} // namespace

std::vector<command> email_commands()
{
    return {wait_command(), code_command(), link_command(), read_command()};
}

} // namespace tempinbox::cli
