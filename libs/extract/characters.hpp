#pragma once

namespace tempinbox::extract {

// ASCII only; all other characters separate words.
inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

inline bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

inline bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

inline bool is_letter(char c)
{
    return is_capital(c) || is_small(c);
}

inline bool is_word(char c)
{
    return is_digit(c) || is_letter(c);
}

} // namespace tempinbox::extract
