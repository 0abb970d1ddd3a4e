#include "mailbox/email_filter.hpp"

#include "common/core/text.hpp"
#include "common/rules/rules.hpp"

#include <algorithm>
#include <chrono>

namespace tempinbox::mailbox {
namespace {

std::optional<std::string> fold_given(const std::optional<std::string>& given)
{
    if (!given)
        return std::nullopt;
    return rules::fold(*given);
}

email_filter fold_texts(email_filter filter)
{
    for (auto* text : {&filter.from, &filter.to, &filter.recipient, &filter.subject})
        *text = fold_given(*text);
    return filter;
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& part)
{
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return contains(text, part); });
}

const std::string& fold_once(std::optional<std::string>& folded, const std::string& text)
{
    if (!folded)
        folded = rules::fold(text);
    return *folded;
}

std::string_view text_of(bool value)
{
    return value ? "true" : "false";
}

// Prefixes the length, so that no two filters have the same text.
void put(std::string& text, filter_field field, std::string_view value)
{
    text += ' ';
    text += to_string(field);
    text += ' ' + std::to_string(value.size()) + ':';
    text += value;
}

void put(std::string& text, filter_field field, const std::optional<std::string>& value)
{
    if (value)
        put(text, field, std::string_view(*value));
}

void put(std::string& text, filter_field field, const std::optional<bool>& value)
{
    if (value)
        put(text, field, text_of(*value));
}

void put(std::string& text, filter_field field, const std::optional<time_point>& value)
{
    if (value)
        put(text, field, std::string_view(std::to_string(to_unix_micros(*value))));
}

// `verify 1, other 3`, or `none`.
std::string count_kinds(const std::vector<std::string>& kinds)
{
    std::vector<std::string> counts;
    for (const auto* kind : {"verify", "reset", "unsubscribe", "other"})
        if (const auto count = std::count(kinds.begin(), kinds.end(), kind))
            counts.push_back(kind + (" " + std::to_string(count)));
    return counts.empty() ? "none" : join_list(counts);
}

} // namespace

std::string email_filter::text() const
{
    const auto folded = fold_texts(*this);
    std::string text;
    put(text, filter_field::from, folded.from);
    put(text, filter_field::to, folded.to);
    put(text, filter_field::recipient, folded.recipient);
    put(text, filter_field::subject, folded.subject);
    put(text, filter_field::has_code, has_code);
    put(text, filter_field::has_link, has_link);
    put(text, filter_field::link_kind, link_kind);
    put(text, filter_field::has_attachment, has_attachment);
    put(text, filter_field::is_read, is_read);
    put(text, filter_field::since, since);
    put(text, filter_field::until, until);
    return text;
}

std::string_view to_string(filter_field field)
{
    switch (field) {
    case filter_field::from:
        return "from";
    case filter_field::to:
        return "to";
    case filter_field::recipient:
        return "recipient";
    case filter_field::subject:
        return "subject";
    case filter_field::has_code:
        return "hasCode";
    case filter_field::has_link:
        return "hasLink";
    case filter_field::link_kind:
        return "linkKind";
    case filter_field::has_attachment:
        return "hasAttachment";
    case filter_field::is_read:
        return "isRead";
    case filter_field::since:
        return "since";
    case filter_field::until:
        return "until";
    }
    return {};
}

filtered_email::filtered_email(email_columns columns) : columns_(std::move(columns)) {}

std::string filtered_email::text(filter_field field) const
{
    switch (field) {
    case filter_field::from:
        return columns_.from_name.empty() ? columns_.from
                                          : columns_.from_name + " <" + columns_.from + ">";
    case filter_field::to: {
        auto all = columns_.rcpt_to;
        for (const auto& one : columns_.to)
            if (std::find(all.begin(), all.end(), one.address) == all.end())
                all.push_back(one.address);
        return join_list(all);
    }
    case filter_field::recipient:
        return join_list(columns_.rcpt_to);
    case filter_field::subject:
        return columns_.subject;
    case filter_field::has_code:
        return std::string(text_of(columns_.has_code));
    case filter_field::has_link:
    case filter_field::link_kind:
        return count_kinds(columns_.link_kinds);
    case filter_field::has_attachment:
        return std::to_string(columns_.attachment_count);
    case filter_field::is_read:
        return std::string(text_of(columns_.is_read));
    case filter_field::since:
    case filter_field::until:
        return to_iso8601(columns_.received_at);
    }
    return {};
}

const std::string& filtered_email::folded_from() const
{
    return fold_once(from_, columns_.from);
}

const std::string& filtered_email::folded_from_name() const
{
    return fold_once(from_name_, columns_.from_name);
}

const std::string& filtered_email::folded_subject() const
{
    return fold_once(subject_, columns_.subject);
}

const std::vector<std::string>& filtered_email::folded_recipients() const
{
    if (!recipients_) {
        recipients_.emplace();
        for (const auto& address : columns_.rcpt_to)
            recipients_->push_back(rules::fold(address));
    }
    return *recipients_;
}

const std::vector<std::string>& filtered_email::folded_to() const
{
    if (!to_) {
        to_.emplace();
        for (const auto& one : columns_.to)
            to_->push_back(rules::fold(one.address));
    }
    return *to_;
}

time_point filtered_email::received_at() const
{
    return std::chrono::floor<std::chrono::milliseconds>(columns_.received_at);
}

compiled_filter::compiled_filter(const email_filter& filter) : filter_(fold_texts(filter)) {}

std::optional<filter_field> compiled_filter::first_failing(const filtered_email& email) const
{
    const auto& seen = email.columns_;
    if (filter_.from && !contains(email.folded_from(), *filter_.from) &&
        !contains(email.folded_from_name(), *filter_.from))
        return filter_field::from;
    if (filter_.to && !any_contains(email.folded_recipients(), *filter_.to) &&
        !any_contains(email.folded_to(), *filter_.to))
        return filter_field::to;
    if (filter_.recipient && !any_contains(email.folded_recipients(), *filter_.recipient))
        return filter_field::recipient;
    if (filter_.subject && !contains(email.folded_subject(), *filter_.subject))
        return filter_field::subject;
    if (filter_.has_code && *filter_.has_code != seen.has_code)
        return filter_field::has_code;
    if (filter_.has_link && *filter_.has_link == seen.link_kinds.empty())
        return filter_field::has_link;
    const auto& kinds = seen.link_kinds;
    if (filter_.link_kind &&
        std::find(kinds.begin(), kinds.end(), *filter_.link_kind) == kinds.end())
        return filter_field::link_kind;
    if (filter_.has_attachment && *filter_.has_attachment != (seen.attachment_count > 0))
        return filter_field::has_attachment;
    if (filter_.is_read && *filter_.is_read != seen.is_read)
        return filter_field::is_read;
    if (filter_.since && email.received_at() < *filter_.since)
        return filter_field::since;
    if (filter_.until && email.received_at() >= *filter_.until)
        return filter_field::until;
    return std::nullopt;
}

} // namespace tempinbox::mailbox
