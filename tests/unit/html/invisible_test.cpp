#include "html/invisible.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::html;

TEST_CASE("characters that nobody sees are taken out and counted", "[html]")
{
    struct row
    {
        std::string text;
        std::string seen;
        std::size_t removed;
    };
    const auto example = GENERATE(
        row{"a\u200bb\u200c\u200d\ufeff\u2060c", "abc", 5}, row{"a\u202eb\u2066c\u061c", "abc", 3},
        row{"a\U000e0049\U000e0047\U000e007fb", "ab", 3}, row{"a\ufe0fb\U000e0100c", "abc", 2},
        row{"a\u00adb\u034f\u3164\u2800", "ab", 3 + 1},
        row{std::string("a\x01\x1b[0m\x7f", 7), "a[0m", 3}, row{"a\r\nb\tc", "a\nb\tc", 0},
        row{"a\u2028b", "a\nb", 0}, row{"Grüße, 日本語 🙂", "Grüße, 日本語 🙂", 0},
        row{"a\xff", "a\ufffd", 0});

    const auto seen = remove_invisible(example.text);

    CHECK(seen.text == example.seen);
    CHECK(seen.removed == example.removed);
}
