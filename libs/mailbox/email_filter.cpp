#include "mailbox/email_filter.hpp"

#include "common/core/text.hpp"
#include "common/rules/rules.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace tempinbox::mailbox {
namespace {

constexpr std::size_t max_preview_characters = 200;
constexpr std::string_view unread_end = "(not read to its end)";
constexpr std::string_view unreadable = "(cannot be read)";

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
    for (auto& header : filter.headers)
        header = {to_lower_ascii(header.name), rules::fold(header.value)};
    std::sort(filter.headers.begin(), filter.headers.end(), [](const auto& a, const auto& b) {
        return std::tie(a.name, a.value) < std::tie(b.name, b.value);
    });
    if (filter.text)
        filter.text = rules::fold_text(*filter.text);
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
void put(std::string& text, std::string_view name, std::string_view value)
{
    text += ' ';
    text += name;
    text += ' ' + std::to_string(value.size()) + ':';
    text += value;
}

void put(std::string& text, filter_field field, std::string_view value)
{
    put(text, to_string(field), value);
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

std::string email_filter::key() const
{
    const auto folded = fold_texts(*this);
    std::string made;
    put(made, filter_field::from, folded.from);
    put(made, filter_field::to, folded.to);
    put(made, filter_field::recipient, folded.recipient);
    put(made, filter_field::subject, folded.subject);
    put(made, filter_field::has_code, has_code);
    put(made, filter_field::has_link, has_link);
    put(made, filter_field::link_kind, link_kind);
    put(made, filter_field::has_attachment, has_attachment);
    put(made, filter_field::is_read, is_read);
    put(made, filter_field::since, since);
    put(made, filter_field::until, until);
    for (const auto& header : folded.headers)
        put(made, to_string(failed_condition(filter_field::header, header.name)),
            std::string_view(header.value));
    put(made, filter_field::text, folded.text);
    return made;
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
    case filter_field::header:
        return "header";
    case filter_field::text:
        return "text";
    }
    return {};
}

std::string to_string(const failed_condition& failed)
{
    std::string name(to_string(failed.field));
    return failed.header.empty() ? name : name + "." + failed.header;
}

message_texts read_message_texts(const mime::view& view)
{
    message_texts texts;
    if (view.text)
        texts.text = rules::fold_text(*view.text);
    texts.headers.reserve(view.headers.size());
    for (const auto& [name, value] : view.headers)
        texts.headers.emplace_back(to_lower_ascii(name), value);
    texts.is_cut =
        std::find(view.defects.begin(), view.defects.end(), "deadline") != view.defects.end();
    return texts;
}

filtered_email::filtered_email(email_columns columns) : columns_(std::move(columns)) {}

std::string filtered_email::text(const failed_condition& failed) const
{
    switch (failed.field) {
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
    case filter_field::header:
        return message_ && message_->is_unreadable ? std::string(unreadable)
                                                   : join_list(header_values(failed.header));
    case filter_field::text:
        if (message_ && message_->is_unreadable)
            return std::string(unreadable);
        return message_ && message_->is_cut ? std::string(unread_end) : columns_.preview;
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

// A code point may combine with those before it, but not past a blank: of a preview that may have
// been cut, the last word is left out.
const std::string& filtered_email::folded_preview() const
{
    if (!preview_) {
        std::string_view sure = columns_.preview;
        if (count_characters(sure) >= max_preview_characters)
            sure = sure.substr(0, sure.rfind(' ') == sure.npos ? 0 : sure.rfind(' '));
        preview_ = rules::fold_text(sure);
    }
    return *preview_;
}

std::vector<std::string> filtered_email::header_values(const std::string& name) const
{
    std::vector<std::string> values;
    if (message_)
        for (const auto& [each, value] : message_->headers)
            if (each == name)
                values.push_back(value);
    return values;
}

time_point filtered_email::received_at() const
{
    return std::chrono::floor<std::chrono::milliseconds>(columns_.received_at);
}

compiled_filter::compiled_filter(const email_filter& filter) : filter_(fold_texts(filter)) {}

bool compiled_filter::is_undecided(const filtered_email& email) const
{
    if (email.message_ || !needs_message() || first_of_columns(email))
        return false;
    return !filter_.headers.empty() || !contains(email.folded_preview(), *filter_.text);
}

std::optional<failed_condition> compiled_filter::first_failing(const filtered_email& email) const
{
    if (const auto field = first_of_columns(email))
        return failed_condition(*field);
    for (const auto& header : filter_.headers) {
        const auto values = email.header_values(header.name);
        const bool is_found =
            std::any_of(values.begin(), values.end(), [&](const std::string& value) {
                return contains(rules::fold(value), header.value);
            });
        if (!is_found)
            return failed_condition(filter_field::header, header.name);
    }
    if (filter_.text && !text_matches(email))
        return failed_condition(filter_field::text);
    return std::nullopt;
}

bool compiled_filter::text_matches(const filtered_email& email) const
{
    return contains(email.folded_preview(), *filter_.text) ||
           (email.message_ && contains(email.message_->text, *filter_.text));
}

std::optional<filter_field> compiled_filter::first_of_columns(const filtered_email& email) const
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
