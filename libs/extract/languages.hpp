#pragma once

#include <span>

namespace tempinbox::extract {

// How one language speaks of one-time codes. Each field but the first two is an alternation of
// patterns; `~` stands for the rest of a word, so that one stem has all its endings. Zero-width
// characters are not in the text that is searched, so they are in no pattern.
struct language_words
{
    const char* name;   // BCP 47
    const char* source; // where the words are from, and what nobody has checked
    // A sure noun is a kind ("verification", "one-time") with a carrier ("code", "password"):
    // `before` stands in front of the carrier or is joined to it, `behind` follows it.
    const char* before = "";
    const char* carrier = "";
    const char* behind = "";
    const char* sure = "";   // nouns that are sure as they are
    const char* maybe = "";  // nouns that may mean a one-time code
    const char* other = "";  // nouns that look like one and mean something else
    const char* typing = ""; // verbs right in front of the value: "enter"
    const char* typed = "";  // verbs right behind it, where the language puts them there
    const char* aim = "";    // what it is typed for: "to sign in"
    const char* is = "";     // between the noun and the value
    bool has_blanks = true;  // between words
};

std::span<const language_words> languages();

} // namespace tempinbox::extract
