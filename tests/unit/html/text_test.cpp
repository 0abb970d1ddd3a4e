#include "html/text.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

std::string text_of(std::string_view html)
{
    return html::to_text(html, 100'000);
}

} // namespace

TEST_CASE("character references of html are characters of its text", "[html]")
{
    CHECK(text_of("&rarr; &aring;&oslash;&aelig; n&atilde;o &ocirc; &icirc; &euml; &oelig; "
                  "&scaron; &Eacute;") == "→ åøæ não ô î ë œ š É");
    CHECK(text_of("code&nbsp482913 &copy 2026 AT&ampT, 1&numsp;2&#8195;3") ==
          "code 482913 © 2026 AT&T, 1 2 3");
    CHECK(text_of("Ver&shy;ify&#8203; &zwnj;mail&#x200D;") == "Verify mail");
}

TEST_CASE("names of HTML 5 and those of two characters are text too", "[html]")
{
    CHECK(text_of("&fjlig;ord &notit; &bigstar; &CounterClockwiseContourIntegral; a&ThickSpace;b "
                  "&nGt;") == "fjord ¬it; ★ ∳ a b \u226b\u20d2");
    CHECK(text_of("<pre>a&NewLine;b&Tab;c</pre>") == "a\nb c");
}

TEST_CASE("a < before anything that is no tag stays", "[html]")
{
    CHECK(text_of("<p>Love <3 your code is 482913</p>") == "Love <3 your code is 482913");
    CHECK(text_of("a <- b <= c << d") == "a <- b <= c << d");
    CHECK(text_of("a<!doctype x><?xml y?></>b") == "ab");
}

TEST_CASE("a comment of Outlook's hides nothing behind it", "[html]")
{
    CHECK(text_of("<!--[if !mso]><!-->shown<!--<![endif]--><!--[if mso]>not<![endif]-->") ==
          "shown");
}

TEST_CASE("blanks and line breaks stay in preformatted text", "[html]")
{
    CHECK(text_of("<p>a  b</p><pre>\n  1  2\r\n\r\n\n   3\n</pre><p>c  d</p>") ==
          "a b\n\n  1  2\n\n\n   3\n\nc d");
    CHECK(text_of("<textarea>x\n  y</textarea>  z") == "x\n  y z");
    CHECK(text_of("<pre>a<b>  b</b>&#10;&nbsp; c") == "a  b\n  c");
}
