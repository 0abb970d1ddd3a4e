#pragma once

#include <re2/re2.h>

#include <string_view>

namespace tempinbox::extract {

// The words around codes and other numbers in many languages, as patterns compiled once per
// process; those that a language has for codes are in languages.cpp. RE2: linear time, safe to
// share between threads, case-insensitive.
struct vocabulary
{
    // In every noun of the next two: one search tells that a text has neither.
    RE2 part_of_noun;
    // Means a one-time code and nothing else: "verification code", "Einmalpasswort", "验证码".
    RE2 code_noun;
    RE2 maybe_code_noun; // "code", "PIN", "код"
    // "enter 482913", "482913 を入力". Apart from the nouns: the automaton of both is too large.
    RE2 typed_value;
    // Has the word but means something else: "postal code", "promo code", "codice fiscale".
    RE2 other_code_noun;
    RE2 typing_verb;       // at the end: "enter "
    RE2 typed_after;       // at the front: " を入力"
    RE2 aim;               // "to sign in"
    RE2 aim_after;         // the same, at the front
    RE2 stating_mark;      // at the end: ": ", " is "
    RE2 explanation;       // whole: " is your Acme "
    RE2 other_number;      // at the end: "order no. ", "Rechnung "
    RE2 phone;             // at the end, some words between: "call us at "
    RE2 money_before;      // at the end
    RE2 money_after;       // at the front
    RE2 unit_after;        // at the front
    RE2 date_before;       // at the end
    RE2 year_before;       // the same, some words between: "since the spring of "
    RE2 right_before_year; // at the end: "by "
    RE2 imprint;           // a line of a footer
    RE2 person_after;      // at the front: "様"
    RE2 capital_word;      // "EXPIRED", "BELOW": capitals where a code would stand
    RE2 access_subject;    // "Sign in to …": a subject that may go with a code

    // These match a whole mail: what a "PIN" or "code" in it is for.
    RE2 meeting;
    RE2 receipt;
    RE2 offer;

    static const vocabulary& get();

private:
    vocabulary();
};

inline re2::StringPiece piece(std::string_view text)
{
    return re2::StringPiece(text.data(), text.size());
}

inline bool says(std::string_view text, const RE2& pattern)
{
    return RE2::PartialMatch(piece(text), pattern);
}

// `$` and `^` match only at the text's ends.
RE2::Options case_blind();

} // namespace tempinbox::extract
