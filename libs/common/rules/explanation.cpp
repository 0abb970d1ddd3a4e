#include "common/rules/explanation.hpp"

#include "common/core/text.hpp"

namespace tempinbox::rules {
namespace {

// Joins all texts, cut short: nothing past four bytes a character is looked at.
std::string join(const std::vector<std::string>& texts)
{
    std::string joined;
    for (const auto& text : texts) {
        joined += (joined.empty() ? "" : ", ") + text;
        if (joined.size() > 4 * max_list_characters)
            break;
    }
    return std::string(take_characters(joined, max_list_characters));
}

} // namespace

explanation explain(const rule& candidate, const tested_mail& mail, const rule_input& folded)
{
    explanation found;
    found.matched = true;
    for (const auto& entry : candidate.conditions) {
        const auto value = fold(entry.value);
        explanation::condition_outcome outcome;
        switch (entry.what) {
        case field::subject:
        case field::from:
            outcome.actual = entry.what == field::from ? mail.from : mail.subject;
            outcome.matched = folded.matches(entry.what, entry.how, value);
            break;
        case field::to: {
            const auto decisive = folded.find_recipient(entry.how, value);
            outcome.actual = decisive ? mail.to[*decisive] : join(mail.to);
            outcome.matched = decisive.has_value();
            break;
        }
        }
        found.matched = found.matched && outcome.matched;
        found.conditions.push_back(std::move(outcome));
    }
    return found;
}

} // namespace tempinbox::rules
