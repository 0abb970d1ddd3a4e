#include "mailbox/email_filter.hpp"

#include "common/rules/rules.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

std::optional<std::string> fold(const std::optional<std::string>& given)
{
    if (!given)
        return std::nullopt;
    return rules::fold(*given);
}

bool contains(const std::string& text, const std::string& folded)
{
    return rules::fold(text).find(folded) != std::string::npos;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& folded)
{
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return contains(text, folded); });
}

// Lengths in front, so that no two filters share a text.
void put(std::string& text, const char* name, const std::optional<std::string>& value)
{
    if (value)
        text += std::string(" ") + name + " " + std::to_string(value->size()) + ":" + *value;
}

} // namespace

email_filter::email_filter(std::optional<std::string> from, std::optional<std::string> to, std::optional<std::string> subject)
    : from_(fold(from)),
      to_(fold(to)),
      subject_(fold(subject))
{}

bool email_filter::matches(const email_summary& email, const std::vector<std::string>& to_header) const
{
    if (subject_ && !contains(email.subject, *subject_))
        return false;
    if (from_ && !contains(email.from, *from_) && !contains(email.from_name, *from_))
        return false;
    return !to_ || any_contains(email.rcpt_to, *to_) || any_contains(to_header, *to_);
}

std::string email_filter::text() const
{
    std::string text;
    put(text, "from", from_);
    put(text, "to", to_);
    put(text, "subject", subject_);
    return text;
}

} // namespace tempinbox::mailbox
