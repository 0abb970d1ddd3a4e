#include "common/core/ascii.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using namespace tempinbox;

namespace {

// All characters of a class, in order.
template <class Class>
std::string members(Class is_member)
{
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        if (const auto c = static_cast<char>(static_cast<unsigned char>(byte)); is_member(c))
            all += c;
    return all;
}

constexpr std::string_view digits = "0123456789", upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                           lower = "abcdefghijklmnopqrstuvwxyz";

} // namespace

TEST_CASE("classes of ASCII hold no other byte", "[core]")
{
    const std::string letters = std::string(upper) + std::string(lower);

    CHECK(members(is_digit) == digits);
    CHECK(members(is_upper) == upper);
    CHECK(members(is_lower) == lower);
    CHECK(members(is_letter) == letters);
    CHECK(members(is_letter_or_digit) == std::string(digits) + letters);
    CHECK(members([](char c) { return hex_value(c) >= 0; }) == "0123456789ABCDEFabcdef");
    CHECK(members([](char c) { return to_lower(c) != c; }) == upper);
    CHECK(members([](char c) { return to_upper(c) != c; }) == lower);
}

TEST_CASE("a hexadecimal digit has its value in either case", "[core]")
{
    CHECK(hex_value('0') == 0);
    CHECK(hex_value('9') == 9);
    CHECK(hex_value('a') == 10);
    CHECK(hex_value('F') == 15);
    CHECK(hex_value('g') == -1);
}
