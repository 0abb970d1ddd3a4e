#include "mime/parameters.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "mime/charset.hpp"
#include "mime/header.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tempinbox::mime {
namespace {

constexpr unsigned max_pieces = 1'000;

struct parameter
{
    std::string_view name;
    std::string value;
};

// Iterates over `; name=value`, leniently: a value may be quoted, or anything up to the next
// semicolon.
class parameter_reader
{
public:
    explicit parameter_reader(std::string_view field) : rest_(field) { skip_to_semicolon(); }

    std::optional<parameter> next()
    {
        while (!rest_.empty()) {
            rest_.remove_prefix(1); // the semicolon
            const auto end = std::min(rest_.find_first_of("=;"), rest_.size());
            parameter found;
            found.name = trim(rest_.substr(0, end));
            rest_.remove_prefix(end);
            if (rest_.empty() || rest_.front() == ';')
                continue;
            rest_.remove_prefix(1);
            found.value = take_value(is_of_file(found.name));
            skip_to_semicolon();
            return found;
        }
        return std::nullopt;
    }

private:
    std::string take_value(bool is_path)
    {
        const auto begin = std::min(rest_.find_first_not_of(" \t"), rest_.size());
        if (begin == rest_.size() || rest_[begin] != '"')
            return std::string(trim(rest_.substr(0, rest_.find(';'))));
        const auto inside = rest_.substr(begin + 1);
        const auto end = find_quote(inside);
        // If the quote is never closed nothing after it can be quoted, so this search fails at most
        // once for each field.
        if (end == std::string_view::npos)
            return std::string(trim(inside.substr(0, inside.find(';'))));
        rest_ = inside.substr(end + 1);
        return unquoted(inside.substr(0, end), is_path);
    }

    static std::size_t find_quote(std::string_view text)
    {
        for (std::size_t at = 0; at < text.size(); at += text[at] == '\\' ? 2 : 1)
            if (text[at] == '"')
                return at;
        return std::string_view::npos;
    }

    static bool is_of_file(std::string_view name)
    {
        const auto base = name.substr(0, name.find('*'));
        return equals_ignoring_ascii_case(base, "filename") ||
               equals_ignoring_ascii_case(base, "name");
    }

    // RFC 5322 3.2.4; a Windows path has unescaped backslashes, which stay.
    static std::string unquoted(std::string_view text, bool is_path)
    {
        std::string value;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] == '\\' && at + 1 < text.size() &&
                (!is_path || text[at + 1] == '"' || text[at + 1] == '\\'))
                ++at;
            value.push_back(text[at]);
        }
        return value;
    }

    void skip_to_semicolon() { rest_.remove_prefix(std::min(rest_.find(';'), rest_.size())); }

    std::string_view rest_;
};

// Decodes `%C3`; anything else stays as it is.
std::string without_percents(std::string_view text)
{
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto code = text[at] == '%' ? from_hex(text.substr(at + 1, 2)) : std::nullopt;
        if (code && code->size() == 1) {
            bytes += *code;
            at += 2;
        } else {
            bytes.push_back(text[at]);
        }
    }
    return bytes;
}

// Removes charset'language' from the first piece and returns the charset.
std::string take_charset(std::string& text)
{
    const auto first = text.find('\'');
    const auto second = first == std::string::npos ? first : text.find('\'', first + 1);
    if (second == std::string::npos)
        return {};
    auto charset = text.substr(0, first);
    text.erase(0, second + 1);
    return charset;
}

struct piece
{
    std::string text;
    bool is_coded = false;
};

// Parses `0`, `1*`: the number of a piece.
std::optional<unsigned> read_number(std::string_view suffix)
{
    unsigned number = 0;
    const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), number);
    if (error != std::errc{} || end != suffix.data() + suffix.size() || number >= max_pieces)
        return std::nullopt;
    return number;
}

std::optional<std::string> join(std::map<unsigned, piece>& pieces)
{
    if (pieces.empty() || pieces.begin()->first != 0)
        return std::nullopt;
    const auto charset =
        pieces.begin()->second.is_coded ? take_charset(pieces.begin()->second.text) : std::string();
    std::string bytes;
    unsigned expected = 0;
    for (const auto& [number, part] : pieces) {
        if (number != expected++)
            break;
        bytes += part.is_coded ? without_percents(part.text) : part.text;
    }
    return to_utf8(bytes, charset);
}

// RFC 2231 has its own encoding, but senders put encoded words into all of its forms, also words
// that the forms cut into pieces.
std::string without_encoded_words(std::string value)
{
    if (value.find("=?") == std::string::npos)
        return value;
    bool has_raw_bytes = false;
    auto decoded = decode_text(value, {}, has_raw_bytes);
    if (decoded != value || !value.starts_with("=?") || !value.ends_with("?="))
        return decoded;
    // A quoted word may have blanks that should have been encoded.
    std::replace(value.begin(), value.end(), ' ', '_');
    auto lenient = decode_text(value, {}, has_raw_bytes);
    return lenient == value ? decoded : lenient;
}

// The forms in which one parameter occurs.
class forms
{
public:
    // `suffix` is the part of the name after its base: nothing, `*`, `*0` or `*0*`.
    void add(std::string_view suffix, std::string&& value)
    {
        if (suffix.empty()) {
            if (!plain_)
                plain_ = std::move(value);
            return;
        }
        suffix.remove_prefix(1);
        if (suffix.empty()) {
            if (!extended_)
                extended_ = std::move(value);
            return;
        }
        piece part;
        part.is_coded = suffix.back() == '*';
        if (part.is_coded)
            suffix.remove_suffix(1);
        part.text = std::move(value);
        if (const auto number = read_number(suffix))
            pieces_.emplace(*number, std::move(part));
    }

    std::optional<std::string> value()
    {
        if (extended_) {
            const auto charset = take_charset(*extended_);
            return without_encoded_words(to_utf8(without_percents(*extended_), charset));
        }
        if (auto joined = join(pieces_))
            return without_encoded_words(std::move(*joined));
        return plain_ ? std::optional(without_encoded_words(*plain_)) : std::nullopt;
    }

private:
    std::optional<std::string> plain_;
    std::optional<std::string> extended_;
    std::map<unsigned, piece> pieces_;
};

} // namespace

std::map<std::string_view, std::string>
read_parameters(std::string_view field, std::initializer_list<std::string_view> names)
{
    std::map<std::string_view, forms> all;
    parameter_reader parameters(field);
    while (auto given = parameters.next()) {
        const auto base = given->name.substr(0, given->name.find('*'));
        const auto match = std::find_if(names.begin(), names.end(), [base](std::string_view name) {
            return equals_ignoring_ascii_case(name, base);
        });
        if (match != names.end())
            all[*match].add(given->name.substr(base.size()), std::move(given->value));
    }
    std::map<std::string_view, std::string> values;
    for (auto& [name, found] : all)
        if (auto value = found.value())
            values.emplace(name, std::move(*value));
    return values;
}

} // namespace tempinbox::mime
