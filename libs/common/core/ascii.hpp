#pragma once

namespace tempinbox {

// Classes of ASCII characters. <cctype> would ask the locale, and is undefined for bytes above
// 0x7f, which are in none of these.

constexpr bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

constexpr bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

constexpr bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

constexpr bool is_letter(char c)
{
    return is_upper(c) || is_lower(c);
}

constexpr bool is_letter_or_digit(char c)
{
    return is_letter(c) || is_digit(c);
}

constexpr char to_lower(char c)
{
    return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr char to_upper(char c)
{
    return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

// Of a hexadecimal digit in either case; -1 for what is none.
constexpr int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

} // namespace tempinbox
