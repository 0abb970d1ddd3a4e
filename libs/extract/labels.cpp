#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "extract/scoring.hpp"
#include "extract/vocabulary.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::size_t max_labels = 1'000;

void collect(std::string_view text, const RE2& pattern, label::meaning says,
             std::vector<label>& found)
{
    re2::StringPiece match;
    for (std::size_t at = 0; at < text.size() && found.size() < max_labels;) {
        if (!pattern.Match(piece(text), at, text.size(), RE2::UNANCHORED, &match, 1) ||
            match.empty())
            return;
        label fresh;
        fresh.begin = static_cast<std::size_t>(match.data() - text.data());
        fresh.end = fresh.begin + match.size();
        fresh.says = says;
        found.push_back(fresh);
        at = fresh.end;
    }
}

bool is_letter_of_words_with_blanks(std::uint32_t lead, std::uint32_t next)
{
    // The lead bytes of Greek, Cyrillic, Hebrew and Arabic; U+05BE joins Hebrew words.
    return lead >= 0xce && lead <= 0xdb && !(lead == 0xd6 && next == 0xbe);
}

std::uint32_t byte_at(std::string_view text, std::size_t at)
{
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
}

// `нацкодекс`, `בנקודת`: the noun is a part of another word. Prefixes of one or two letters (ה, ל,
// ال) and endings of up to four belong to the noun.
bool is_inside_word(std::string_view text, const label& one)
{
    constexpr std::size_t letter = 2; // bytes
    constexpr std::size_t max_prefix = 2;
    constexpr std::size_t max_ending = 4;
    if (byte_at(text, one.begin) < 0x80)
        return false;
    const auto is_letter_at = [&](std::size_t at) {
        return is_letter_of_words_with_blanks(byte_at(text, at), byte_at(text, at + 1));
    };
    const bool is_semitic = byte_at(text, one.begin) >= 0xd6;
    std::size_t in_front = 0;
    for (auto at = one.begin; at >= letter && in_front <= max_prefix && is_letter_at(at - letter);
         at -= letter)
        ++in_front;
    std::size_t behind = 0;
    for (auto at = one.end; behind <= max_ending && is_letter_at(at); at += letter)
        ++behind;
    return in_front > (is_semitic ? max_prefix : 0) || behind > (is_semitic ? 2 : max_ending) ||
           (is_semitic && in_front > 0 && behind > 0);
}

// `Your Deutsche Bank code`: the noun is the last word of a name.
bool is_of_name(std::string_view text, const label& one)
{
    constexpr std::size_t max_name_bytes = 64;
    static const RE2 name(
        R"((?:^|[^\p{L}])(?:[Yy]our|[Tt]he|[Ii]hr|[Dd]ein|[Jj]e|[Uu]w) (?:\p{Lu}[\w&.'-]* )+$)");
    const auto noun = text.substr(one.begin, one.end - one.begin);
    const auto begin = one.begin - std::min(one.begin, max_name_bytes);
    static const RE2 last_word(
        R"(^(?:Bank|Store|Post|Depot|Zone|State|Branch|Union|Parts?|Jobs?|Event|Airport)[ -][Cc]ode)");
    return says(noun, last_word) && says(text.substr(begin, one.begin - begin), name);
}

} // namespace

std::vector<label> find_labels(std::string_view text)
{
    const auto& words = vocabulary::get();
    if (!says(text, words.part_of_noun))
        return {};
    std::vector<label> perhaps;
    collect(text, words.maybe_code_noun, label::meaning::perhaps_a_code, perhaps);
    std::erase_if(perhaps, [&](const label& one) { return is_inside_word(text, one); });
    std::vector<label> all;
    collect(text, words.code_noun, label::meaning::a_code, all);
    if (perhaps.empty() && all.empty())
        return {};
    std::vector<label> denied;
    collect(text, words.other_code_noun, label::meaning::something_else, denied);
    std::erase_if(denied, [&](const label& one) { return is_of_name(text, one); });

    all.insert(all.end(), perhaps.begin(), perhaps.end());
    all.insert(all.end(), denied.begin(), denied.end());
    std::sort(all.begin(), all.end(), [](const label& a, const label& b) {
        return std::tuple(a.begin, a.says, b.end) < std::tuple(b.begin, b.says, a.end);
    });
    // Resolves overlaps: `product code` over `code`, `verification code` over `code`. What makes a
    // noun sure may itself stand behind a denied one, and is nearer: `銀行の確認コード`.
    std::vector<label> kept;
    for (const auto& one : all) {
        if (kept.empty() || one.begin >= kept.back().end) {
            kept.push_back(one);
            continue;
        }
        auto& last = kept.back();
        const bool one_denies = one.says == label::meaning::something_else;
        const bool last_denies = last.says == label::meaning::something_else;
        const bool is_nearer = last_denies && one.says == label::meaning::a_code &&
                               one.begin > last.begin && one.end >= last.end;
        if (is_nearer) {
            last = one;
        } else if ((one_denies && !last_denies) || (!last_denies && one.says > last.says)) {
            const auto begin = last.begin;
            last = one;
            last.begin = begin;
        }
    }
    return kept;
}

// Looks around the digits alone: most of a text has none, and a search costs by its length.
bool has_typed_value(std::string_view text)
{
    constexpr std::size_t reach = 128; // longer than any verb with the marks beside it
    const auto next_digit = [&](std::size_t from) {
        return static_cast<std::size_t>(
            std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit) -
            text.begin());
    };
    for (auto digit = next_digit(0); digit < text.size();) {
        const auto begin = digit - std::min(digit, reach);
        auto end = digit;
        for (; digit < text.size() && digit - end <= reach; digit = next_digit(digit + 1))
            end = digit;
        if (says(text.substr(begin, end + reach - begin), vocabulary::get().typed_value))
            return true;
    }
    return false;
}

bool has_code_label(const std::vector<label>& labels)
{
    return std::any_of(labels.begin(), labels.end(),
                       [](const label& one) { return one.says != label::meaning::something_else; });
}

mail_hints hints_of_subject(std::string_view subject, const std::vector<label>& labels)
{
    const auto& words = vocabulary::get();
    mail_hints hints;
    hints.subject_has_label = has_code_label(labels);
    hints.subject_is_access = says(subject, words.access_subject);
    hints.is_offer = says(subject, words.offer);
    return hints;
}

void add_hints_of_text(std::string_view text, const std::vector<label>& labels, mail_hints& hints)
{
    const auto& words = vocabulary::get();
    hints.text = text;
    hints.is_meeting = says(text, words.meeting);
    const bool has_authorization = std::any_of(labels.begin(), labels.end(), [&](const label& one) {
        return to_lower_ascii(text.substr(one.begin, 4)) == "auth";
    });
    hints.is_receipt = has_authorization && says(text, words.receipt);
}

} // namespace tempinbox::extract
