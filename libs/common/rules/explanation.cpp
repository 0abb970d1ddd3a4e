#include "common/rules/explanation.hpp"

#include <algorithm>

namespace tempinbox::rules {
namespace {

std::string join(const std::vector<std::string>& texts)
{
    std::string joined;
    for (const auto& text : texts)
        joined += (joined.empty() ? "" : ", ") + text;
    return joined;
}

// The text that decided: for `to` one of the recipients.
std::string actual_text(const condition& asked, const tested_mail& mail, std::string_view folded_value)
{
    switch (asked.what) {
    case field::subject:
        return mail.subject;
    case field::from:
        return mail.from;
    case field::to:
        break;
    }
    const auto decisive = std::find_if(mail.to.begin(), mail.to.end(), [&](const std::string& recipient) {
        return subject_of_rules("", {recipient}, "").matches(field::to, asked.how, folded_value);
    });
    return decisive == mail.to.end() ? join(mail.to) : *decisive;
}

} // namespace

explanation explain(const rule& asked, const tested_mail& mail)
{
    const subject_of_rules folded(mail.from, mail.to, mail.subject);
    explanation found;
    found.matched = true;
    for (const auto& entry : asked.conditions) {
        const auto value = fold(entry.value);
        explanation::condition_outcome outcome;
        outcome.matched = folded.matches(entry.what, entry.how, value);
        outcome.actual = actual_text(entry, mail, value);
        found.matched = found.matched && outcome.matched;
        found.conditions.push_back(std::move(outcome));
    }
    return found;
}

} // namespace tempinbox::rules
