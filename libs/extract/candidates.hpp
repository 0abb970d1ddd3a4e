#pragma once

#include "extract/label.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tempinbox::extract {

// The outer form of a candidate, most trusted first.
enum class code_form {
    digits,         // 482913, 482 913, 482-913, 4 8 2 9 1 3
    prefixed,       // G-482913: the user types the number only
    capital_groups, // AB3-9XZ
    small_groups,   // 4f8a-91c2
    letter_groups,  // QRW-KTP
    mixed,          // k7f2m9qd, X7K9QP
    letters,        // QRWKTP
    words           // sable-tofu-iguana-lemon
};

struct candidate_code
{
    std::string_view text; // a part of the searched text
    std::string value;     // as the user types it
    code_form form = code_form::digits;
    // Digits in groups as dates, ranges and versions have them too: `482.913`, `48 - 29 - 13`.
    bool is_loose = false;
};

// Iterates over the words and groups of words that have the outer form of a one-time code. Linear:
// every byte is examined a bounded number of times.
class candidate_scanner
{
public:
    // The labels are those of the text: `OTP-482913` is a noun and a value, not one word.
    explicit candidate_scanner(std::string_view text, std::span<const label> labels = {})
        : text_(text),
          labels_(labels)
    {}

    std::optional<candidate_code> next();

private:
    std::string_view take_word();
    std::string_view join_single(std::string_view word);
    std::string_view join_groups(std::string_view word) const;
    bool ends_noun(std::size_t at);
    std::size_t begin_of(std::string_view part) const
    {
        return static_cast<std::size_t>(part.data() - text_.data());
    }

    std::string_view text_;
    std::span<const label> labels_; // those that begin behind what has been read, and the last one
    std::size_t at_ = 0;
    std::size_t singles_looked_to_ = 0;
};

// How common the form is among codes: 0.03 to 0.15, added to the score.
double form_weight(const candidate_code& one);

// Values that may be something other than a code: 2026, 20260314, SPRING20 (a word with a number),
// 1Password and Parcel2Go (names with a number).
bool is_year(std::string_view value);
bool is_date(std::string_view value);
bool is_numbered_word(std::string_view value);
bool is_numbered_name(std::string_view value);
// 10pm, 30th, 1080p: a quantity; XX1245: a masked number.
bool is_quantity(std::string_view value);
bool is_masked(std::string_view value);
// 12-03-26, 12.03.26, as it is written.
bool is_short_date(std::string_view text);

} // namespace tempinbox::extract
