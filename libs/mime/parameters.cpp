#include "mime/parameters.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "mime/charset.hpp"

#include <charconv>
#include <map>

namespace tempinbox::mime {
namespace {

constexpr unsigned most_pieces = 1'000;

struct parameter
{
    std::string_view name;
    std::string value;
};

// Goes over `; name=value` one by one, loosely: a value may be quoted, or anything up to the next semicolon.
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
            found.value = take_value();
            skip_to_semicolon();
            return found;
        }
        return std::nullopt;
    }

private:
    std::string take_value()
    {
        const auto begin = std::min(rest_.find_first_not_of(" \t"), rest_.size());
        if (begin == rest_.size() || rest_[begin] != '"')
            return std::string(trim(rest_.substr(0, rest_.find(';'))));
        rest_.remove_prefix(begin + 1);
        std::string value;
        while (!rest_.empty()) {
            const bool is_escaped = rest_.front() == '\\' && rest_.size() > 1;
            if (rest_.front() == '"')
                break;
            if (is_escaped)
                rest_.remove_prefix(1);
            value.push_back(rest_.front());
            rest_.remove_prefix(1);
        }
        rest_.remove_prefix(rest_.empty() ? 0 : 1);
        return value;
    }

    void skip_to_semicolon() { rest_.remove_prefix(std::min(rest_.find(';'), rest_.size())); }

    std::string_view rest_;
};

// `%C3`; anything else stays as it is.
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

// What stands before the text of the first piece: charset'language'.
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

// `0`, `1*`: the number of a piece.
std::optional<unsigned> read_number(std::string_view suffix)
{
    unsigned number = 0;
    const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), number);
    if (error != std::errc{} || end != suffix.data() + suffix.size() || number >= most_pieces)
        return std::nullopt;
    return number;
}

std::optional<std::string> join(std::map<unsigned, piece>& pieces)
{
    if (pieces.empty() || pieces.begin()->first != 0)
        return std::nullopt;
    const auto charset = pieces.begin()->second.is_coded ? take_charset(pieces.begin()->second.text) : std::string();
    std::string bytes;
    unsigned expected = 0;
    for (const auto& [number, part] : pieces) {
        if (number != expected++)
            break;
        bytes += part.is_coded ? without_percents(part.text) : part.text;
    }
    return to_utf8(bytes, charset);
}

} // namespace

std::optional<std::string> extended_parameter(std::string_view field, std::string_view name)
{
    if (field.find('*') == std::string_view::npos)
        return std::nullopt;
    std::map<unsigned, piece> pieces;
    parameter_reader parameters(field);
    while (auto given = parameters.next()) {
        auto suffix = given->name;
        if (suffix.size() <= name.size() || !equals_ignoring_ascii_case(suffix.substr(0, name.size()), name) ||
            suffix[name.size()] != '*')
            continue;
        suffix.remove_prefix(name.size() + 1);
        if (suffix.empty()) {
            const auto charset = take_charset(given->value);
            return to_utf8(without_percents(given->value), charset);
        }
        piece part;
        part.is_coded = suffix.back() == '*';
        if (part.is_coded)
            suffix.remove_suffix(1);
        part.text = std::move(given->value);
        if (const auto number = read_number(suffix))
            pieces.emplace(*number, std::move(part));
    }
    return join(pieces);
}

} // namespace tempinbox::mime
