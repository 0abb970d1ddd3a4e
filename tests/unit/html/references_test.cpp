#include "html/references.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "html/reference_names.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace tempinbox;
using namespace tempinbox::html;

namespace {

std::string in_text(std::string_view html)
{
    return decode_character_references(html, reference_context::text);
}

std::string in_attribute(std::string_view html)
{
    return decode_character_references(html, reference_context::attribute);
}

} // namespace

TEST_CASE("character references by number, in either base, with or without a semicolon", "[html]")
{
    CHECK(in_text("&#43;&#39;&#x2F;&#X3d;") == "+'/=");
    CHECK(in_text("&#128274; &#x1F44B; &#8364") == "🔒 👋 €");
    CHECK(in_text("&#58x &#0000000000000000000000065;") == ":x A");
    CHECK(in_text("&# &#; &#x; &#xg") == "&# &#; &#x; &#xg");
}

TEST_CASE("a number that is no character becomes a replacement, one of windows-1252 what was meant",
          "[html]")
{
    CHECK(in_text("&#0;&#xd800;&#x110000;&#99999999999999999999;") == "\ufffd\ufffd\ufffd\ufffd");
    CHECK(in_text("don&#146;t &#128;5") == "don’t €5");
}

TEST_CASE("character references by name", "[html]")
{
    CHECK(in_text("&aring;&oslash;&aelig;&atilde;&ocirc;&icirc;&euml;&iuml;&ugrave;&oelig;&scaron;&"
                  "Eacute;") == "åøæãôîëïùœšÉ");
    CHECK(in_text("&lt;&gt;&amp;&quot;&apos;&sol;&colon;&equals;&commat;") == "<>&\"'/:=@");
    CHECK(in_text("&Alpha;&omega;&hellip;&rarr;&thetasym;&lstrok;&ZeroWidthSpace;") ==
          "Αω…→ϑł\u200b");
    CHECK(in_text("&bogus; &; & &a &NBSP; &ZeroWidthSpaces;") ==
          "&bogus; &; & &a &NBSP; &ZeroWidthSpaces;");
    CHECK(in_text("&amp;lt; &ampamp;") == "&lt; &amp;");
}

TEST_CASE("all of HTML's names are known", "[html]")
{
    std::string all;
    for (const auto& known : reference_names)
        all += std::string(known.name) + " " + in_text("&" + std::string(known.name)) + "\n";

    CHECK(reference_names.size() == 2'231);
    // The same lines made of https://html.spec.whatwg.org/entities.json.
    CHECK(to_hex(crypto::sha256(all)) ==
          "907aebb4621ecc06e6f1a115aaa08b4ffce194496c4c4740173a95cfb4e493c3");
}

TEST_CASE("the longest name that is there counts", "[html]")
{
    CHECK(in_text("&not; &notit; &notin; &notinva; &not in &notin") == "¬ ¬it; ∉ ∉ ¬ in ¬in");
    CHECK(in_text("&amp &amp; &ampere; &AMP; &Amp;") == "& & &ere; & &Amp;");
    CHECK(in_text("&sup1; &sup12; &sup &sup; &supe; &sup1e") == "¹ ¹2; &sup ⊃ ⊇ ¹e");
    CHECK(in_text("&CounterClockwiseContourIntegral; &CounterClockwiseContourIntegrals; "
                  "&CounterClockwiseContourIntegral") ==
          "∳ &CounterClockwiseContourIntegrals; &CounterClockwiseContourIntegral");
    CHECK(in_text("&lang;&rang; &fjord; &ETH&eth &para&parallel;") == "⟨⟩ &fjord; Ðð ¶∥");

    CHECK(in_attribute("&not &not; &notit; &notin; &not=1 &not-1 &notin") ==
          "¬ ¬ &notit; ∉ &not=1 ¬-1 &notin");
    CHECK(in_attribute("/?x=1&amp=2&amp;b=3&amp&copy_me=1&copyme=1") ==
          "/?x=1&amp=2&b=3&©_me=1&copyme=1");
    CHECK(in_attribute("&fjlig; &NotEqualTilde; &lt;&gt") == "fj \u2242\u0338 <>");
}

TEST_CASE("some names stand for two characters", "[html]")
{
    CHECK(in_text("&fjlig;&nGt;&bne;&NotEqualTilde;&ThickSpace;") ==
          "fj\u226b\u20d2=\u20e5\u2242\u0338\u205f\u200a");
    const auto shown = [](std::string_view html) {
        return as_shown(read_character_reference(html, reference_context::text));
    };
    CHECK(shown("&fjlig;") == "fj");
    CHECK(shown("&bne;") == "=\u20e5");
    CHECK(shown("&ThickSpace;") == " ");
    CHECK(shown("&shy;") == "");
}

TEST_CASE("only the oldest names go without a semicolon", "[html]")
{
    CHECK(in_text("&copy 2026 AT&ampT &nbsp482913 &eacutet&eacute &notit; &notin;") ==
          "© 2026 AT&T \u00a0482913 été ¬it; ∉");
    CHECK(in_text("&hellip &alpha &sol") == "&hellip &alpha &sol");
}

TEST_CASE("in an attribute a name without a semicolon may be a parameter of a query", "[html]")
{
    CHECK(in_attribute("?a=1&copy=2&reg3&amp=4&lt") == "?a=1&copy=2&reg3&amp=4<");
    CHECK(in_attribute("?a=1&amp;copy=2&#38;b&#61c") == "?a=1&copy=2&b=c");
    CHECK(in_attribute("&copy;&para &notit;") == "©¶ &notit;");
}

TEST_CASE("every legacy name of the standard is known without a semicolon", "[html]")
{
    const std::string_view names = "AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil "
                                   "ETH Eacute Ecirc Egrave Euml GT Iacute Icirc Igrave Iuml LT "
                                   "Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN "
                                   "Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig "
                                   "agrave amp aring atilde auml brvbar ccedil cedil cent copy "
                                   "curren deg divide eacute ecirc egrave eth euml frac12 frac14 "
                                   "frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt macr "
                                   "micro middot nbsp not ntilde oacute ocirc ograve ordf "
                                   "ordm "
                                   "oslash otilde ouml para plusmn pound quot raquo reg sect shy "
                                   "sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave uml "
                                   "uuml yacute yen yuml ";
    for (auto rest = names; !rest.empty(); rest.remove_prefix(rest.find(' ') + 1)) {
        const auto name = "&" + std::string(rest.substr(0, rest.find(' ')));
        INFO(name);
        CHECK(in_text(name + " ").size() <= 3);
    }
}
