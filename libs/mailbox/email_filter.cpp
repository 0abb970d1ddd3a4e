#include "mailbox/email_filter.hpp"

#include "common/core/text.hpp"
#include "common/rules/rules.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

std::optional<std::string> fold_given(const std::optional<std::string>& given)
{
    if (!given)
        return std::nullopt;
    return rules::fold(*given);
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

// Prefixes the length, so that no two filters have the same text.
void put(std::string& text, const char* name, const std::optional<std::string>& value)
{
    if (value)
        text += std::string(" ") + name + " " + std::to_string(value->size()) + ":" + *value;
}

} // namespace

std::string email_filter::text() const
{
    std::string text;
    put(text, "from", fold_given(from));
    put(text, "to", fold_given(to));
    put(text, "subject", fold_given(subject));
    if (has_code)
        text += *has_code ? " hasCode" : " noCode";
    return text;
}

std::string_view to_string(filter_field field)
{
    switch (field) {
    case filter_field::from:
        return "from";
    case filter_field::to:
        return "to";
    case filter_field::subject:
        return "subject";
    case filter_field::has_code:
        return "hasCode";
    }
    return {};
}

filtered_email::filtered_email(std::string from, std::string from_name,
                               std::vector<std::string> rcpt_to,
                               const std::vector<mime::email_address>& to, std::string subject,
                               bool has_code)
    : from_(std::move(from)),
      from_name_(std::move(from_name)),
      rcpt_to_(std::move(rcpt_to)),
      subject_(std::move(subject)),
      has_code_(has_code)
{
    folded_.from = rules::fold(from_);
    folded_.from_name = rules::fold(from_name_);
    to_.reserve(to.size());
    for (const auto& one : to)
        to_.push_back(one.address);
    folded_.to.reserve(rcpt_to_.size() + to_.size());
    for (const auto* addresses : {&rcpt_to_, &to_})
        for (const auto& address : *addresses)
            folded_.to.push_back(rules::fold(address));
    folded_.subject = rules::fold(subject_);
}

std::string filtered_email::text(filter_field field) const
{
    switch (field) {
    case filter_field::from:
        return from_name_.empty() ? from_ : from_name_ + " <" + from_ + ">";
    case filter_field::to: {
        auto all = rcpt_to_;
        for (const auto& address : to_)
            if (std::find(all.begin(), all.end(), address) == all.end())
                all.push_back(address);
        return join_list(all);
    }
    case filter_field::subject:
        return subject_;
    case filter_field::has_code:
        return has_code_ ? "true" : "false";
    }
    return {};
}

compiled_filter::compiled_filter(const email_filter& filter)
    : from_(fold_given(filter.from)),
      to_(fold_given(filter.to)),
      subject_(fold_given(filter.subject)),
      has_code_(filter.has_code)
{}

std::optional<filter_field> compiled_filter::first_failing(const filtered_email& email) const
{
    const auto& seen = email.folded_;
    if (from_ && !contains(seen.from, *from_) && !contains(seen.from_name, *from_))
        return filter_field::from;
    const auto names_it = [&](const std::string& address) { return contains(address, *to_); };
    if (to_ && std::none_of(seen.to.begin(), seen.to.end(), names_it))
        return filter_field::to;
    if (subject_ && !contains(seen.subject, *subject_))
        return filter_field::subject;
    if (has_code_ && *has_code_ != email.has_code_)
        return filter_field::has_code;
    return std::nullopt;
}

} // namespace tempinbox::mailbox
