#pragma once

#include "common/json/value.hpp"
#include "common/json/writer.hpp"
#include "gateway/mcp/fence.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway::mcp {

// Parts of tool results that come from a mail: `email` is an Email or a summary as /v1 writes it.
// What is not a number, an id, a time, or a word of ours goes through the fence. Whole emails,
// codes and links take milliseconds: content_reader is for these.

constexpr std::size_t standard_text_length = 8'000;
constexpr std::size_t min_text_length = 100;
constexpr std::size_t max_text_length = 20'000;

// The result of read_email.
std::string whole_email(const json::value& email, std::size_t max_characters);

// The result of sender_report, of a SenderReport: its newest 50 attempts with their messages, the
// first three recipients of each, and the newest 20 faults that were not applied. Marks are of all.
std::string short_sender_report(const json::value& report);

// `email` of wait_for_email.
void put_summary(json::writer& out, const json::value& email, fence& marks);
// `nearMisses` of wait_for_email.
void put_near_misses(json::writer& out, const json::value& misses, fence& marks);

// `emailId`, `from` and `subject`: which mail it is.
void put_source(json::writer& out, const json::value& email, fence& marks);
void put_no_source(json::writer& out);

// Whether the email's HTML was made to take more work than it may: it may hold more.
bool is_cut(const json::value& email);

// The one-time codes of the email, likeliest first, at most five. They are not fenced: only those
// of letters, digits and hyphens are taken, at most 32, and none with words in it (`DELETE-ALL-1`).
std::vector<std::string> codes_of(const json::value& email);

// A link that a person sees.
struct mail_link
{
    std::string kind, url, text;
    std::size_t removed = 0; // characters of its words that nobody sees
};

// The link that a person would follow: of that kind, else the first that confirms something, resets
// something, or leads anywhere but out of a mailing list.
std::optional<mail_link> find_link(const json::value& email,
                                   const std::optional<std::string>& kind);
void put_link(json::writer& out, const mail_link& link, fence& marks);

} // namespace tempinbox::gateway::mcp
