#include "common/core/html_entities.hpp"

#include <algorithm>
#include <iterator>

namespace tempinbox {
namespace {

struct named_character
{
    std::string_view name;
    char32_t point;
};

// By name, as bytes compare: HTML 4's, Latin Extended-A, ASCII's own marks and what else is met in mail.
// clang-format off
constexpr named_character named[] = {
    {"AElig", U'Æ'}, {"AMP", U'&'}, {"Aacute", U'Á'}, {"Abreve", U'Ă'}, {"Acirc", U'Â'}, {"Agrave", U'À'}, {"Alpha", U'Α'},
    {"Amacr", U'Ā'}, {"Aogon", U'Ą'}, {"Aring", U'Å'}, {"Atilde", U'Ã'}, {"Auml", U'Ä'}, {"Beta", U'Β'}, {"COPY", U'©'},
    {"Cacute", U'Ć'}, {"Ccaron", U'Č'}, {"Ccedil", U'Ç'}, {"Ccirc", U'Ĉ'}, {"Cdot", U'Ċ'}, {"Chi", U'Χ'}, {"Dagger", U'‡'},
    {"Dcaron", U'Ď'}, {"Delta", U'Δ'}, {"Dstrok", U'Đ'}, {"ENG", U'Ŋ'}, {"ETH", U'Ð'}, {"Eacute", U'É'}, {"Ecaron", U'Ě'},
    {"Ecirc", U'Ê'}, {"Edot", U'Ė'}, {"Egrave", U'È'}, {"Emacr", U'Ē'}, {"Eogon", U'Ę'}, {"Epsilon", U'Ε'}, {"Eta", U'Η'},
    {"Euml", U'Ë'}, {"GT", U'>'}, {"Gamma", U'Γ'}, {"Gbreve", U'Ğ'}, {"Gcedil", U'Ģ'}, {"Gcirc", U'Ĝ'}, {"Gdot", U'Ġ'},
    {"Hat", U'^'}, {"Hcirc", U'Ĥ'}, {"Hstrok", U'Ħ'}, {"IJlig", U'Ĳ'}, {"Iacute", U'Í'}, {"Icirc", U'Î'}, {"Idot", U'İ'},
    {"Igrave", U'Ì'}, {"Imacr", U'Ī'}, {"Iogon", U'Į'}, {"Iota", U'Ι'}, {"Itilde", U'Ĩ'}, {"Iuml", U'Ï'}, {"Jcirc", U'Ĵ'},
    {"Kappa", U'Κ'}, {"Kcedil", U'Ķ'}, {"LT", U'<'}, {"Lacute", U'Ĺ'}, {"Lambda", U'Λ'}, {"Lcaron", U'Ľ'}, {"Lcedil", U'Ļ'},
    {"Lmidot", U'Ŀ'}, {"Lstrok", U'Ł'}, {"MediumSpace", 0x205f}, {"Mu", U'Μ'}, {"Nacute", U'Ń'}, {"Ncaron", U'Ň'},
    {"Ncedil", U'Ņ'}, {"NewLine", 0xa}, {"NoBreak", 0x2060}, {"Ntilde", U'Ñ'}, {"Nu", U'Ν'}, {"OElig", U'Œ'},
    {"Oacute", U'Ó'}, {"Ocirc", U'Ô'}, {"Odblac", U'Ő'}, {"Ograve", U'Ò'}, {"Omacr", U'Ō'}, {"Omega", U'Ω'},
    {"Omicron", U'Ο'}, {"Oslash", U'Ø'}, {"Otilde", U'Õ'}, {"Ouml", U'Ö'}, {"Phi", U'Φ'}, {"Pi", U'Π'}, {"Prime", U'″'},
    {"Psi", U'Ψ'}, {"QUOT", U'"'}, {"REG", U'®'}, {"Racute", U'Ŕ'}, {"Rcaron", U'Ř'}, {"Rcedil", U'Ŗ'}, {"Rho", U'Ρ'},
    {"Sacute", U'Ś'}, {"Scaron", U'Š'}, {"Scedil", U'Ş'}, {"Scirc", U'Ŝ'}, {"Sigma", U'Σ'}, {"THORN", U'Þ'}, {"TRADE", U'™'},
    {"Tab", 0x9}, {"Tau", U'Τ'}, {"Tcaron", U'Ť'}, {"Tcedil", U'Ţ'}, {"Theta", U'Θ'}, {"Tstrok", U'Ŧ'}, {"Uacute", U'Ú'},
    {"Ubreve", U'Ŭ'}, {"Ucirc", U'Û'}, {"Udblac", U'Ű'}, {"Ugrave", U'Ù'}, {"Umacr", U'Ū'}, {"Uogon", U'Ų'},
    {"Upsilon", U'Υ'}, {"Uring", U'Ů'}, {"Utilde", U'Ũ'}, {"Uuml", U'Ü'}, {"Wcirc", U'Ŵ'}, {"Xi", U'Ξ'}, {"Yacute", U'Ý'},
    {"Ycirc", U'Ŷ'}, {"Yuml", U'Ÿ'}, {"Zacute", U'Ź'}, {"Zcaron", U'Ž'}, {"Zdot", U'Ż'}, {"ZeroWidthSpace", 0x200b},
    {"Zeta", U'Ζ'}, {"aacute", U'á'}, {"abreve", U'ă'}, {"acirc", U'â'}, {"acute", U'´'}, {"aelig", U'æ'}, {"agrave", U'à'},
    {"alefsym", U'ℵ'}, {"alpha", U'α'}, {"amacr", U'ā'}, {"amp", U'&'}, {"and", U'∧'}, {"ang", U'∠'}, {"aogon", U'ą'},
    {"apos", U'\''}, {"approx", U'≈'}, {"aring", U'å'}, {"ast", U'*'}, {"asymp", U'≈'}, {"atilde", U'ã'}, {"auml", U'ä'},
    {"bdquo", U'„'}, {"beta", U'β'}, {"blacksquare", U'▪'}, {"boxh", U'─'}, {"boxv", U'│'}, {"bprime", U'‵'},
    {"brvbar", U'¦'}, {"bsol", U'\\'}, {"bull", U'•'}, {"bullet", U'•'}, {"cacute", U'ć'}, {"cap", U'∩'}, {"caret", U'⁁'},
    {"ccaron", U'č'}, {"ccedil", U'ç'}, {"ccirc", U'ĉ'}, {"cdot", U'ċ'}, {"cedil", U'¸'}, {"cent", U'¢'}, {"check", U'✓'},
    {"checkmark", U'✓'}, {"chi", U'χ'}, {"cir", U'○'}, {"circ", U'ˆ'}, {"clubs", U'♣'}, {"colon", U':'}, {"comma", U','},
    {"commat", U'@'}, {"cong", U'≅'}, {"copy", U'©'}, {"copysr", U'℗'}, {"crarr", U'↵'}, {"cross", U'✗'}, {"cup", U'∪'},
    {"curren", U'¤'}, {"dArr", U'⇓'}, {"dagger", U'†'}, {"darr", U'↓'}, {"dash", U'‐'}, {"dcaron", U'ď'}, {"deg", U'°'},
    {"delta", U'δ'}, {"diams", U'♦'}, {"divide", U'÷'}, {"dollar", U'$'}, {"downarrow", U'↓'}, {"dstrok", U'đ'},
    {"dtri", U'▿'}, {"dtrif", U'▾'}, {"eacute", U'é'}, {"ecaron", U'ě'}, {"ecirc", U'ê'}, {"edot", U'ė'}, {"egrave", U'è'},
    {"ell", U'ℓ'}, {"emacr", U'ē'}, {"empty", U'∅'}, {"emsp", 0x2003}, {"emsp13", 0x2004}, {"emsp14", 0x2005}, {"eng", U'ŋ'},
    {"ensp", 0x2002}, {"eogon", U'ę'}, {"epsilon", U'ε'}, {"equals", U'='}, {"equiv", U'≡'}, {"eta", U'η'}, {"eth", U'ð'},
    {"euml", U'ë'}, {"euro", U'€'}, {"excl", U'!'}, {"exist", U'∃'}, {"female", U'♀'}, {"flat", U'♭'}, {"fnof", U'ƒ'},
    {"forall", U'∀'}, {"frac12", U'½'}, {"frac13", U'⅓'}, {"frac14", U'¼'}, {"frac15", U'⅕'}, {"frac16", U'⅙'},
    {"frac18", U'⅛'}, {"frac23", U'⅔'}, {"frac25", U'⅖'}, {"frac34", U'¾'}, {"frac35", U'⅗'}, {"frac38", U'⅜'},
    {"frac45", U'⅘'}, {"frac56", U'⅚'}, {"frac58", U'⅝'}, {"frac78", U'⅞'}, {"frasl", U'⁄'}, {"gamma", U'γ'},
    {"gbreve", U'ğ'}, {"gcirc", U'ĝ'}, {"gdot", U'ġ'}, {"ge", U'≥'}, {"grave", U'`'}, {"gt", U'>'}, {"hArr", U'⇔'},
    {"hairsp", 0x200a}, {"harr", U'↔'}, {"hcirc", U'ĥ'}, {"hearts", U'♥'}, {"hellip", U'…'}, {"horbar", U'―'},
    {"hstrok", U'ħ'}, {"hybull", U'⁃'}, {"hyphen", U'‐'}, {"iacute", U'í'}, {"icirc", U'î'}, {"iexcl", U'¡'},
    {"igrave", U'ì'}, {"ijlig", U'ĳ'}, {"imacr", U'ī'}, {"image", U'ℑ'}, {"imath", U'ı'}, {"incare", U'℅'}, {"infin", U'∞'},
    {"inodot", U'ı'}, {"int", U'∫'}, {"iogon", U'į'}, {"iota", U'ι'}, {"iquest", U'¿'}, {"isin", U'∈'}, {"itilde", U'ĩ'},
    {"iuml", U'ï'}, {"jcirc", U'ĵ'}, {"kappa", U'κ'}, {"kcedil", U'ķ'}, {"kgreen", U'ĸ'}, {"lArr", U'⇐'}, {"lacute", U'ĺ'},
    {"lambda", U'λ'}, {"lang", U'〈'}, {"laquo", U'«'}, {"larr", U'←'}, {"lbrace", U'{'}, {"lbrack", U'['}, {"lcaron", U'ľ'},
    {"lcedil", U'ļ'}, {"lceil", U'⌈'}, {"lcub", U'{'}, {"ldquo", U'“'}, {"ldquor", U'„'}, {"le", U'≤'}, {"leftarrow", U'←'},
    {"lfloor", U'⌊'}, {"lmidot", U'ŀ'}, {"lowast", U'∗'}, {"lowbar", U'_'}, {"loz", U'◊'}, {"lozf", U'⧫'}, {"lpar", U'('},
    {"lrm", 0x200e}, {"lsaquo", U'‹'}, {"lsqb", U'['}, {"lsquo", U'‘'}, {"lsquor", U'‚'}, {"lstrok", U'ł'}, {"lt", U'<'},
    {"ltri", U'◃'}, {"ltrif", U'◂'}, {"macr", U'¯'}, {"male", U'♂'}, {"malt", U'✠'}, {"map", U'↦'}, {"mdash", U'—'},
    {"micro", U'µ'}, {"middot", U'·'}, {"minus", U'−'}, {"mldr", U'…'}, {"mu", U'μ'}, {"nabla", U'∇'}, {"nacute", U'ń'},
    {"napos", U'ŉ'}, {"natural", U'♮'}, {"nbsp", 0xa0}, {"ncaron", U'ň'}, {"ncedil", U'ņ'}, {"ndash", U'–'}, {"ne", U'≠'},
    {"ni", U'∋'}, {"nldr", U'‥'}, {"not", U'¬'}, {"notin", U'∉'}, {"nsub", U'⊄'}, {"ntilde", U'ñ'}, {"nu", U'ν'},
    {"num", U'#'}, {"numero", U'№'}, {"numsp", 0x2007}, {"oacute", U'ó'}, {"ocirc", U'ô'}, {"odblac", U'ő'}, {"oelig", U'œ'},
    {"ograve", U'ò'}, {"oline", U'‾'}, {"omacr", U'ō'}, {"omega", U'ω'}, {"omicron", U'ο'}, {"oplus", U'⊕'}, {"or", U'∨'},
    {"ordf", U'ª'}, {"ordm", U'º'}, {"oslash", U'ø'}, {"otilde", U'õ'}, {"otimes", U'⊗'}, {"ouml", U'ö'}, {"para", U'¶'},
    {"parallel", U'∥'}, {"part", U'∂'}, {"percnt", U'%'}, {"period", U'.'}, {"permil", U'‰'}, {"perp", U'⊥'},
    {"pertenk", U'‱'}, {"phi", U'φ'}, {"phmmat", U'ℳ'}, {"phone", U'☎'}, {"pi", U'π'}, {"piv", U'ϖ'}, {"plus", U'+'},
    {"plusmn", U'±'}, {"pound", U'£'}, {"prime", U'′'}, {"prod", U'∏'}, {"prop", U'∝'}, {"psi", U'ψ'}, {"puncsp", 0x2008},
    {"quest", U'?'}, {"quot", U'"'}, {"rArr", U'⇒'}, {"racute", U'ŕ'}, {"radic", U'√'}, {"rang", U'〉'}, {"raquo", U'»'},
    {"rarr", U'→'}, {"rarrw", U'↝'}, {"rbrace", U'}'}, {"rbrack", U']'}, {"rcaron", U'ř'}, {"rcedil", U'ŗ'}, {"rceil", U'⌉'},
    {"rcub", U'}'}, {"rdquo", U'”'}, {"rdquor", U'”'}, {"real", U'ℜ'}, {"reg", U'®'}, {"rfloor", U'⌋'}, {"rho", U'ρ'},
    {"rightarrow", U'→'}, {"rlm", 0x200f}, {"rpar", U')'}, {"rsaquo", U'›'}, {"rsqb", U']'}, {"rsquo", U'’'},
    {"rsquor", U'’'}, {"rtri", U'▹'}, {"rtrif", U'▸'}, {"sacute", U'ś'}, {"sbquo", U'‚'}, {"scaron", U'š'}, {"scedil", U'ş'},
    {"scirc", U'ŝ'}, {"sdot", U'⋅'}, {"sect", U'§'}, {"semi", U';'}, {"sharp", U'♯'}, {"shy", 0xad}, {"sigma", U'σ'},
    {"sigmaf", U'ς'}, {"sim", U'∼'}, {"sol", U'/'}, {"spades", U'♠'}, {"squ", U'□'}, {"square", U'□'}, {"star", U'☆'},
    {"starf", U'★'}, {"sub", U'⊂'}, {"sube", U'⊆'}, {"sum", U'∑'}, {"sung", U'♪'}, {"sup", U'⊃'}, {"sup1", U'¹'},
    {"sup2", U'²'}, {"sup3", U'³'}, {"supe", U'⊇'}, {"szlig", U'ß'}, {"tau", U'τ'}, {"tcaron", U'ť'}, {"tcedil", U'ţ'},
    {"there4", U'∴'}, {"theta", U'θ'}, {"thetasym", U'ϑ'}, {"thinsp", 0x2009}, {"thorn", U'þ'}, {"tilde", U'˜'},
    {"times", U'×'}, {"tprime", U'‴'}, {"trade", U'™'}, {"tstrok", U'ŧ'}, {"uArr", U'⇑'}, {"uacute", U'ú'}, {"uarr", U'↑'},
    {"ubreve", U'ŭ'}, {"ucirc", U'û'}, {"udblac", U'ű'}, {"ugrave", U'ù'}, {"umacr", U'ū'}, {"uml", U'¨'}, {"uogon", U'ų'},
    {"uparrow", U'↑'}, {"upsih", U'ϒ'}, {"upsilon", U'υ'}, {"uring", U'ů'}, {"utilde", U'ũ'}, {"utri", U'▵'}, {"utrif", U'▴'},
    {"uuml", U'ü'}, {"verbar", U'|'}, {"vert", U'|'}, {"wcirc", U'ŵ'}, {"weierp", U'℘'}, {"xcirc", U'◯'}, {"xi", U'ξ'},
    {"xlarr", U'⟵'}, {"xrarr", U'⟶'}, {"yacute", U'ý'}, {"ycirc", U'ŷ'}, {"yen", U'¥'}, {"yuml", U'ÿ'}, {"zacute", U'ź'},
    {"zcaron", U'ž'}, {"zdot", U'ż'}, {"zeta", U'ζ'}, {"zwj", 0x200d}, {"zwnj", 0x200c},
};
// clang-format on

constexpr bool by_name(const named_character& a, const named_character& b)
{
    return a.name < b.name;
}
static_assert(std::is_sorted(std::begin(named), std::end(named), by_name), "looked up by halves");

// What browsers read for the C1 controls: windows-1252, as was meant.
constexpr char32_t windows_1252[] = {U'€', 0x81, U'‚', U'ƒ', U'„', U'…', U'†', U'‡', U'ˆ', U'‰', U'Š',
                                     U'‹', U'Œ', 0x8d, U'Ž', 0x8f, 0x90, U'‘', U'’', U'“', U'”', U'•',
                                     U'–', U'—', U'˜', U'™', U'š', U'›', U'œ', 0x9d, U'ž', U'Ÿ'};

constexpr std::size_t longest_name = 14; // ZeroWidthSpace

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_name_character(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int digit_value(char c, int base)
{
    if (is_digit(c))
        return c - '0';
    const char small = static_cast<char>(c | 0x20);
    return base == 16 && small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

const named_character* find_named(std::string_view name)
{
    const auto* at = std::lower_bound(std::begin(named), std::end(named), named_character{name, 0}, by_name);
    return at != std::end(named) && at->name == name ? at : nullptr;
}

// The names of HTML 2 and 3.2 may go without a semicolon.
bool is_legacy(const named_character& known)
{
    return (known.point >= 0xa0 && known.point <= 0xff) || known.point == '&' || known.point == '<' || known.point == '>' ||
           known.point == '"';
}

character_reference read_numeric(std::string_view html)
{
    const bool is_hex = html.size() > 2 && (html[2] | 0x20) == 'x';
    const int base = is_hex ? 16 : 10;
    const std::size_t first = is_hex ? 3 : 2;
    std::size_t at = first;
    char32_t point = 0;
    for (; at < html.size() && digit_value(html[at], base) >= 0; ++at)
        point = std::min<char32_t>(point * static_cast<char32_t>(base) + static_cast<char32_t>(digit_value(html[at], base)),
                                   0x110000);
    if (at == first)
        return {};
    if (at < html.size() && html[at] == ';')
        ++at;
    if (point >= 0x80 && point < 0xa0)
        point = windows_1252[point - 0x80];
    const bool is_character = point != 0 && point < 0x110000 && (point < 0xd800 || point >= 0xe000);
    return {at, is_character ? point : U'\xfffd'};
}

character_reference read_named(std::string_view html, html_place place)
{
    const auto rest = html.substr(1, longest_name + 1);
    const auto stop = std::find_if_not(rest.begin(), rest.end(), is_name_character);
    const auto name = rest.substr(0, static_cast<std::size_t>(stop - rest.begin()));
    if (stop != rest.end() && *stop == ';')
        if (const auto* known = find_named(name))
            return {name.size() + 2, known->point};
    constexpr std::size_t shortest = 2, longest = 6; // &lt, &eacute
    for (auto length = std::min(name.size(), longest); length >= shortest; --length) {
        const auto* known = find_named(name.substr(0, length));
        if (!known || !is_legacy(*known))
            continue;
        // `?a=1&copy=2` is a query, not a copyright sign.
        const char next = length < rest.size() ? rest[length] : ' ';
        if (place == html_place::attribute && (next == '=' || is_name_character(next)))
            return {};
        return {length + 1, known->point};
    }
    return {};
}

} // namespace

character_reference read_character_reference(std::string_view html, html_place place)
{
    if (html.size() < 3 || html.front() != '&')
        return {};
    return html[1] == '#' ? read_numeric(html) : read_named(html, place);
}

std::string encode_utf8(char32_t point)
{
    const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
    const auto tail = [&](int shift) { return byte(0x80 | (point >> shift & 0x3f)); };
    if (point < 0x80)
        return {byte(point)};
    if (point < 0x800)
        return {byte(0xc0 | point >> 6), tail(0)};
    if (point < 0x10000)
        return {byte(0xe0 | point >> 12), tail(6), tail(0)};
    return {byte(0xf0 | point >> 18), tail(12), tail(6), tail(0)};
}

std::string as_shown(char32_t point)
{
    if (point <= ' ' || point == 0xa0 || (point >= 0x2000 && point <= 0x200a) || point == 0x202f || point == 0x205f)
        return " ";
    if (point == 0xad || (point >= 0x200b && point <= 0x200d) || point == 0x2060)
        return {};
    return encode_utf8(point);
}

std::string decode_character_references(std::string_view html, html_place place)
{
    std::string text;
    text.reserve(html.size());
    while (!html.empty()) {
        const auto reference = read_character_reference(html, place);
        if (reference.length > 0) {
            text += encode_utf8(reference.point);
            html.remove_prefix(reference.length);
            continue;
        }
        const auto length = std::min(html.find('&', 1), html.size());
        text += html.substr(0, length);
        html.remove_prefix(length);
    }
    return text;
}

} // namespace tempinbox
