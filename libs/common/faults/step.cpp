#include "common/faults/step.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::faults {
namespace {

constexpr std::string_view stage_names[] = {"auth", "mail", "rcpt", "data", "end"};

// Removes a number of one to three digits from the front.
bool take_number(std::string_view& text)
{
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(digits);
    return digits >= 1 && digits <= 3;
}

// A code (RFC 5321 4.2), an enhanced code of the same class (RFC 2034 4, RFC 3463 2) and a text.
bool is_reply(std::string_view text)
{
    constexpr std::size_t code_and_class = 5;
    const bool has_code = text.size() > code_and_class && (text[0] == '4' || text[0] == '5') &&
                          text[1] >= '0' && text[1] <= '5' && is_digit(text[2]) && text[3] == ' ';
    if (!has_code || text[4] != text[0])
        return false;
    text.remove_prefix(code_and_class);
    for (int part = 0; part < 2; ++part) {
        if (!text.starts_with('.'))
            return false;
        text.remove_prefix(1);
        if (!take_number(text))
            return false;
    }
    return text.starts_with(' ') && text.find_first_not_of(' ') != std::string_view::npos &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

failure refused(const std::string& path, const std::string& why)
{
    return failure{errc::invalid_argument, path + why};
}

result<void> check_number(const std::string& name, std::int64_t number, std::int64_t min,
                          std::int64_t max)
{
    if (number >= min && number <= max)
        return {};
    return refused(name, " must be an integer from " + std::to_string(min) + " to " +
                             std::to_string(max) + ", not " + std::to_string(number));
}

result<void> check_effect(const step& candidate, const std::string& path)
{
    if (candidate.reply.empty() && candidate.delay.count() == 0 && candidate.cut == cut_kind::none)
        return refused(path, " must have a reply, delaySeconds or cut");
    if (!candidate.reply.empty() && candidate.cut != cut_kind::none)
        return refused(path, ".cut must be left out where there is a reply");
    if (!candidate.reply.empty() &&
        (candidate.reply.size() > max_reply_length || !is_reply(candidate.reply)))
        return refused(path,
                       ".reply must be a 4xx or 5xx code, an enhanced code of the same class "
                       "and a text, at most " +
                           std::to_string(max_reply_length) +
                           " printable ASCII characters such as \"451 4.7.1 Try again later\", "
                           "not " +
                           quote(candidate.reply));
    if (candidate.cut == cut_kind::stored && candidate.at != stage::end)
        return refused(path, ".cut must be unstored at " + std::string(to_text(candidate.at)) +
                                 ": a message is stored at end alone");
    return check_number(path + ".delaySeconds", candidate.delay.count(), 0, max_delay_seconds);
}

result<void> check_schedule(const schedule& when, const std::string& path)
{
    switch (when.what) {
    case schedule::kind::always:
        break;
    case schedule::kind::times:
        return check_number(path + ".times", when.number, 1, max_uses);
    case schedule::kind::for_seconds:
        return check_number(path + ".forSeconds", when.number, 1, max_for_seconds);
    case schedule::kind::above_per_minute:
        return check_number(path + ".abovePerMinute", when.number, 1, max_uses);
    case schedule::kind::every:
        return check_number(path + ".every", when.number, 1, max_uses);
    }
    return {};
}

result<void> check_recipients(const step& candidate, const std::string& path)
{
    const auto at = std::string(to_text(candidate.at));
    const bool knows_recipients = candidate.at != stage::auth && candidate.at != stage::mail;
    if (!candidate.to.empty() && !knows_recipients)
        return refused(path, ".to must be left out at " + at + ": no recipient is known there");
    if (!is_valid_utf8(candidate.to) || count_characters(candidate.to) > max_to_length)
        return refused(path, ".to must have 1 to " + std::to_string(max_to_length) + " characters");
    if (candidate.is_per_recipient && candidate.at != stage::rcpt)
        return refused(path, ".per must be left out at " + at +
                                 ": recipients are counted by themselves at rcpt");
    return {};
}

} // namespace

std::string_view to_text(stage at)
{
    return stage_names[static_cast<std::size_t>(at)];
}

std::optional<stage> parse_stage(std::string_view text)
{
    for (const auto at : all_stages)
        if (text == to_text(at))
            return at;
    return std::nullopt;
}

stage_set stages_of(const std::vector<step>& steps)
{
    stage_set stages;
    for (const auto& each : steps)
        stages.add(each.at);
    return stages;
}

result<void> check(const step& candidate, const std::string& path)
{
    if (const auto fits = check_effect(candidate, path); !fits)
        return fits;
    if (const auto fits = check_schedule(candidate.when, path); !fits)
        return fits;
    return check_recipients(candidate, path);
}

} // namespace tempinbox::faults
