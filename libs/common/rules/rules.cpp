#include "common/rules/rules.hpp"

#include "common/core/blanks.hpp"
#include "common/core/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace tempinbox::rules {
namespace {

template <class Kind>
struct name_of
{
    std::string_view name;
    Kind kind;
};

constexpr name_of<field> field_names[] = {
    {"subject", field::subject}, {"from", field::from}, {"to", field::to}};
constexpr name_of<comparison> comparison_names[] = {{"contains", comparison::contains},
                                                    {"equals", comparison::equals},
                                                    {"starts_with", comparison::starts_with},
                                                    {"ends_with", comparison::ends_with}};

bool is_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool holds(std::string_view folded, comparison how, std::string_view value)
{
    switch (how) {
    case comparison::contains:
        return folded.find(value) != std::string_view::npos;
    case comparison::equals:
        return folded == value;
    case comparison::starts_with:
        return folded.starts_with(value);
    case comparison::ends_with:
        return folded.ends_with(value);
    }
    return false;
}

// The bytes of the blank or control character that the text begins with; 0 if there is neither.
std::size_t gap_length(std::string_view utf8)
{
    const auto first = static_cast<unsigned char>(utf8.front());
    return first < 0x20 || first == 0x7f ? 1 : blank_length(utf8);
}

// The bytes of the code point that the clean text begins with, and whether it is shown.
std::pair<std::size_t, bool> first_of(std::string_view clean)
{
    if (static_cast<unsigned char>(clean.front()) < 0x80)
        return {1, true};
    utf8proc_int32_t code_point = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(clean.data()),
                                         static_cast<utf8proc_ssize_t>(clean.size()), &code_point);
    return {static_cast<std::size_t>(length), !utf8proc_get_property(code_point)->ignorable};
}

// What a reader of clean text sees, on one line.
std::string to_one_line(std::string_view clean)
{
    std::string line;
    line.reserve(clean.size());
    bool wants_blank = false;
    while (!clean.empty()) {
        if (const auto gap = gap_length(clean)) {
            wants_blank = !line.empty();
            clean.remove_prefix(gap);
            continue;
        }
        const auto [length, is_shown] = first_of(clean);
        if (is_shown) {
            if (std::exchange(wants_blank, false))
                line.push_back(' ');
            line += clean.substr(0, length);
        }
        clean.remove_prefix(length);
    }
    return line;
}

} // namespace

std::string_view to_string(field what)
{
    for (const auto& entry : field_names)
        if (entry.kind == what)
            return entry.name;
    return {};
}

std::string_view to_string(comparison how)
{
    for (const auto& entry : comparison_names)
        if (entry.kind == how)
            return entry.name;
    return {};
}

result<field> parse_field(std::string_view text)
{
    for (const auto& entry : field_names)
        if (entry.name == text)
            return entry.kind;
    return failure{errc::invalid_argument, "field must be subject, from or to, not " + quote(text)};
}

result<comparison> parse_comparison(std::string_view text)
{
    for (const auto& entry : comparison_names)
        if (entry.name == text)
            return entry.kind;
    return failure{errc::invalid_argument,
                   "operator must be contains, equals, starts_with or ends_with, not " +
                       quote(text)};
}

std::string fold(std::string_view utf8)
{
    if (is_ascii(utf8))
        return with_plain_blanks(to_lower_ascii(utf8));

    // Unicode 15 3.13 D145: decompose, fold (full mappings, so ß becomes ss), then compose, which
    // also makes canonical equivalents equal.
    const std::string clean = to_clean_utf8(utf8);
    utf8proc_uint8_t* folded = nullptr;
    const auto length = utf8proc_map(
        reinterpret_cast<const utf8proc_uint8_t*>(clean.data()),
        static_cast<utf8proc_ssize_t>(clean.size()), &folded,
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(folded, &std::free);
    if (length < 0)
        throw std::bad_alloc(); // clean UTF-8 leaves no other error
    return with_plain_blanks(
        std::string_view(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(length)));
}

std::string fold_text(std::string_view utf8)
{
    return fold(to_one_line(is_ascii(utf8) ? std::string(utf8) : to_clean_utf8(utf8)));
}

rule_input::rule_input(std::string_view from, const std::vector<std::string>& to,
                       std::string_view subject)
    : from_(fold(from)),
      subject_(fold(subject))
{
    to_.reserve(to.size());
    for (const auto& recipient : to)
        to_.push_back(fold(recipient));
}

bool rule_input::matches(field what, comparison how, std::string_view folded_value) const
{
    switch (what) {
    case field::subject:
        return holds(subject_, how, folded_value);
    case field::from:
        return holds(from_, how, folded_value);
    case field::to:
        return find_recipient(how, folded_value).has_value();
    }
    return false;
}

std::optional<std::size_t> rule_input::find_recipient(comparison how,
                                                      std::string_view folded_value) const
{
    const auto found = std::find_if(to_.begin(), to_.end(), [&](const std::string& form) {
        return holds(form, how, folded_value);
    });
    if (found == to_.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - to_.begin());
}

compiled_rules::compiled_rules(const std::vector<rule>& rules)
{
    for (const auto& source : rules) {
        if (!source.is_enabled)
            continue;
        rules_.push_back(source);
        for (auto& condition : rules_.back().conditions)
            condition.value = fold(condition.value);
    }
}

compiled_rules::outcome compiled_rules::evaluate(const rule_input& mail) const
{
    outcome found;
    for (const auto& rule : rules_) {
        const bool matched = std::all_of(
            rule.conditions.begin(), rule.conditions.end(), [&](const condition& wanted) {
                return mail.matches(wanted.what, wanted.how, wanted.value);
            });
        if (!matched)
            continue;
        found.matched.push_back(rule.id);
        if (std::find(found.webhooks.begin(), found.webhooks.end(), rule.webhook) ==
            found.webhooks.end())
            found.webhooks.push_back(rule.webhook);
    }
    return found;
}

} // namespace tempinbox::rules
