#include "mime/addresses.hpp"

#include "common/core/text.hpp"
#include "mime/header.hpp"

#include <algorithm>

namespace tempinbox::mime {
namespace {

bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// RFC 5322 3.2.3, RFC 6532 3.2, and dots.
bool is_atom_character(char c)
{
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f &&
           std::string_view("()<>[]:;@\\,\"").find(c) == std::string_view::npos;
}

bool is_atom(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), is_atom_character);
}

bool is_domain(std::string_view text)
{
    if (text.size() > 2 && text.front() == '[' && text.back() == ']')
        return text.substr(1, text.size() - 2).find_first_of("[]<>@\\\" ") ==
               std::string_view::npos;
    return is_atom(text) && text.front() != '.' && text.find("..") == std::string_view::npos;
}

// The index after the closing quote of the quoted string that begins at `at`; npos if there is
// none.
std::size_t quoted_end(std::string_view text, std::size_t at)
{
    for (++at; at < text.size(); at += text[at] == '\\' ? 2 : 1)
        if (text[at] == '"')
            return at + 1;
    return std::string_view::npos;
}

// RFC 5322 3.2.1: a backslash quotes the next character.
std::string without_backslashes(std::string_view text)
{
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 1 < text.size())
            ++at;
        plain.push_back(text[at]);
    }
    return plain;
}

// Removes blanks around `@` and dots, which RFC 5322 4.4 allows.
std::string without_blanks_at_marks(std::string_view text)
{
    std::string tight;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text[at] == '"' ? std::min(quoted_end(text, at), text.size())
                         : is_blank(text[at])
                             ? std::min(text.find_first_not_of(" \t", at), text.size())
                             : at + 1;
        if (!is_blank(text[at])) {
            tight += text.substr(at, end - at);
        } else {
            const bool is_at_mark = end == text.size() || text[end] == '@' || text[end] == '.' ||
                                    tight.empty() || tight.back() == '@' || tight.back() == '.';
            if (!is_at_mark)
                tight.push_back(' ');
        }
        at = end;
    }
    return tight;
}

// Splits `a@x.test b@x.test`; empty unless all pieces are addresses.
std::vector<std::string_view> split_at_blanks(std::string_view text)
{
    std::vector<std::string_view> found;
    while (!text.empty()) {
        const auto quoted = text.front() == '"' ? std::min(quoted_end(text, 0), text.size()) : 0;
        const auto one = text.substr(0, text.find(' ', quoted));
        if (!is_address(one))
            return {};
        found.push_back(one);
        text.remove_prefix(std::min(one.size() + 1, text.size()));
    }
    return found;
}

// The text between two separators.
struct entry
{
    std::string_view raw;
    std::string phrase; // without brackets and the quotes of quoted strings
    // The phrase without comments and with its quotes: an address without brackets.
    std::string bare;
    std::string comment; // the first one; the display name if there is no other
    std::string bracketed;
    std::string trailing; // text after the bracket
    std::size_t trailing_begin = std::string_view::npos;
    bool has_bracket = false;
    bool has_address = false; // the bracket holds an address
    bool has_two_brackets = false;
    bool has_words = false;          // text before the bracket
    bool has_at = false;             // outside of quotes and brackets
    bool has_square_bracket = false; // the same
};

// Splits a field into entries, and entries into their pieces.
class address_reader
{
public:
    address_reader(std::string_view value, std::size_t max_addresses)
        : value_(value),
          max_addresses_(max_addresses)
    {}

    address_list read()
    {
        while (at_ < value_.size() && found_.size() < max_addresses_) {
            const char c = value_[at_];
            if (c == ',')
                end_entry(true);
            else if (c == ';')
                end_entry(false);
            else if (c == ':' && !entry_.has_at && !entry_.has_bracket &&
                     !entry_.has_square_bracket)
                drop_group_name();
            else if (c == '"')
                take_quoted();
            else if (c == '(')
                take_comment();
            else if (c == '<')
                take_bracket();
            else if (c == '=')
                take_encoded_word();
            else
                take_plain(1);
        }
        end_entry(false);
        // `Undisclosed recipients:;` has no address, and is not kept as an entry.
        if (found_.empty() && !has_group_ && max_addresses_ != 0 && !trim(value_).empty())
            found_.push_back({{}, to_clean_utf8(trim(value_))});
        if (found_.size() > max_addresses_)
            found_.resize(max_addresses_);
        return {std::move(found_), lacks_comma_};
    }

private:
    void take_plain(std::size_t length)
    {
        const auto text = value_.substr(at_, length);
        if (entry_.has_bracket) {
            text == "@" && entry_.has_address ? split_behind_bracket() : take_trailing(text);
            return;
        }
        at_ += text.size();
        entry_.has_at = entry_.has_at || text == "@";
        entry_.has_square_bracket = entry_.has_square_bracket || text == "[";
        entry_.has_words = entry_.has_words || !is_blank(text.front());
        entry_.phrase += text;
        entry_.bare += text;
    }

    void take_trailing(std::string_view text)
    {
        if (entry_.trailing_begin == std::string_view::npos && !is_blank(text.front()))
            entry_.trailing_begin = at_;
        entry_.trailing += text;
        at_ += text.size();
    }

    // `Ann <ann@x.test> Bob <bob@x.test>`: a comma is missing. The words between are read again, as
    // the second entry's.
    void split_behind_bracket()
    {
        lacks_comma_ = true;
        at_ = std::min(entry_.trailing_begin, at_);
        entry_.trailing.clear();
        finish_entry(false);
        start_entry();
    }

    void take_quoted()
    {
        const auto end = has_unclosed_quote_ ? std::string_view::npos : quoted_end(value_, at_);
        if (end == std::string_view::npos) {
            has_unclosed_quote_ = true; // then no later quote is closed either
            return take_plain(1);
        }
        const auto whole = value_.substr(at_, end - at_);
        if (entry_.has_bracket)
            return take_trailing(whole);
        at_ = end;
        entry_.has_words = true;
        entry_.bare += whole;
        entry_.phrase += without_backslashes(whole.substr(1, whole.size() - 2));
    }

    void take_comment()
    {
        const auto end = has_unclosed_comment_ ? std::string_view::npos : comment_end(value_, at_);
        if (end == std::string_view::npos) {
            has_unclosed_comment_ = true;
            return take_plain(1);
        }
        const auto text = without_backslashes(value_.substr(at_, end - at_));
        at_ = end;
        if (entry_.comment.empty() && entry_.trailing_begin == std::string_view::npos)
            entry_.comment = trim(std::string_view(text).substr(1, text.size() - 2));
        if (entry_.has_bracket)
            return;
        entry_.bare.push_back(' '); // RFC 5322 3.2.2: a comment counts as a blank
        if (entry_.has_words)
            entry_.phrase += text; // `Ann (at work) <ann@x.test>`
    }

    // An unclosed bracket ends with its entry. A route, which may hold commas, is dropped (RFC 5322
    // 4.4).
    void take_bracket()
    {
        if (entry_.has_address)
            return split_behind_bracket();
        ++at_;
        const bool has_route = at_ < value_.size() && value_[at_] == '@';
        const std::string_view ends = has_route ? "<>" : "<>,;";
        std::string inside;
        while (at_ < value_.size() && ends.find(value_[at_]) == std::string_view::npos)
            inside += take_inside();
        if (at_ < value_.size() && value_[at_] == '>')
            ++at_;
        const auto route = has_route ? inside.find(':') : std::string::npos;
        const auto given =
            trim(std::string_view(inside).substr(route == std::string::npos ? 0 : route + 1));
        entry_.has_bracket = true;
        if (given.empty())
            return;
        entry_.has_two_brackets = !entry_.bracketed.empty();
        entry_.bracketed = without_blanks_at_marks(given);
        entry_.has_address = !entry_.has_two_brackets && is_address(entry_.bracketed);
    }

    // The next piece inside a bracket: a quoted string, a blank for a comment, or one character.
    std::string_view take_inside()
    {
        const auto begin = at_;
        const char c = value_[at_];
        auto end = std::string_view::npos;
        if (c == '"' && !has_unclosed_quote_) {
            end = quoted_end(value_, at_);
            has_unclosed_quote_ = end == std::string_view::npos;
        } else if (c == '(' && !has_unclosed_comment_) {
            end = comment_end(value_, at_);
            has_unclosed_comment_ = end == std::string_view::npos;
        }
        at_ = end == std::string_view::npos ? begin + 1 : end;
        return c == '(' && end != std::string_view::npos ? std::string_view(" ")
                                                         : value_.substr(begin, at_ - begin);
    }

    // An encoded word may hold unencoded commas.
    void take_encoded_word()
    {
        take_plain(std::max<std::size_t>(encoded_word_length(value_.substr(at_)), 1));
    }

    void drop_group_name()
    {
        has_group_ = has_group_ || entry_.has_words;
        flush_pending();
        ++at_;
        start_entry();
    }

    void start_entry()
    {
        entry_ = {};
        begin_ = at_;
    }

    void end_entry(bool is_comma)
    {
        finish_entry(is_comma);
        ++at_; // the separator
        start_entry();
    }

    void finish_entry(bool is_comma)
    {
        entry_.raw = trim(value_.substr(begin_, at_ - begin_));
        const bool is_word_alone =
            is_comma && !entry_.has_at && !entry_.has_bracket && entry_.has_words;
        if (is_word_alone) {
            constexpr std::size_t max_commas = 8;
            if (pending_.size() == max_commas)
                flush_pending();
            pending_.push_back(std::move(entry_));
        } else {
            // `Doe, Sam <sam@x.test>`: the name should have been quoted.
            if (!pending_.empty() && entry_.has_address)
                join_pending();
            flush_pending();
            add(entry_);
        }
    }

    void join_pending()
    {
        std::string name;
        for (const auto& one : pending_)
            name.append(name.empty() ? "" : ", ").append(trim(one.phrase));
        if (const auto last = trim(entry_.phrase); !last.empty())
            name.append(", ").append(last);
        entry_.phrase = std::move(name);
        entry_.raw =
            std::string_view(pending_.front().raw.data(),
                             static_cast<std::size_t>(entry_.raw.data() + entry_.raw.size() -
                                                      pending_.front().raw.data()));
        pending_.clear();
    }

    void flush_pending()
    {
        for (const auto& one : pending_)
            add(one);
        pending_.clear();
    }

    // `=?utf-8?B?…?=` that holds `Ann <ann@x.test>`: RFC 2047 5 forbids encoding an address, but
    // programs encode the whole field. Without an address in it, it is kept as what it says.
    bool add_encoded(std::string_view phrase)
    {
        const auto word = is_decoded_ ? std::string_view::npos : phrase.find("=?");
        if (word == std::string_view::npos || encoded_word_length(phrase.substr(word)) == 0)
            return false;
        bool has_raw_bytes = false;
        const auto text = decode_text(phrase, {}, has_raw_bytes);
        address_reader inner(text, max_addresses_ - std::min(max_addresses_, found_.size()));
        inner.is_decoded_ = true;
        auto read = inner.read();
        const bool has_address = std::any_of(read.addresses.begin(), read.addresses.end(),
                                             [](const auto& it) { return is_address(it.address); });
        if (has_address) {
            lacks_comma_ = lacks_comma_ || read.lacks_comma;
            found_.insert(found_.end(), std::make_move_iterator(read.addresses.begin()),
                          std::make_move_iterator(read.addresses.end()));
        } else if (!text.empty()) {
            found_.push_back({{}, text});
        }
        return has_address || !text.empty();
    }

    std::string decoded_once(std::string_view text) const
    {
        bool has_raw_bytes = false;
        return is_decoded_ ? std::string(text) : decode_text(text, {}, has_raw_bytes);
    }

    // `Ann <=?utf-8?Q?ann=40x.test?=>`.
    std::string decoded_bracket(const entry& one) const
    {
        if (one.has_address || !one.bracketed.starts_with("=?"))
            return {};
        auto text = decoded_once(one.bracketed);
        return is_address(text) ? text : std::string();
    }

    void add(const entry& one)
    {
        if (one.raw.empty() || (trim(one.bare).empty() && !one.has_bracket))
            return;
        if (!one.has_bracket && !one.has_at && add_encoded(trim(one.phrase)))
            return;
        const auto named = [&](std::string_view phrase, std::string address) {
            auto name = decoded_once(phrase);
            if (name.empty())
                name = decoded_once(one.comment);
            found_.push_back({std::move(name), std::move(address)});
        };
        const bool is_clear =
            one.trailing.find_first_of("@<") == std::string::npos && !one.has_two_brackets;
        if (auto decoded = decoded_bracket(one); is_clear && !decoded.empty())
            return named(trim(one.phrase), std::move(decoded));
        if (one.has_bracket && is_clear && (one.has_address || is_atom(one.bracketed)))
            return named(trim(one.phrase), one.bracketed);
        const auto bare = one.has_bracket ? std::string() : without_blanks_at_marks(trim(one.bare));
        if (is_address(bare) || is_atom(bare))
            return named({}, bare);
        const auto several = split_at_blanks(bare);
        lacks_comma_ = lacks_comma_ || several.size() > 1;
        for (const auto address : several)
            found_.push_back({{}, std::string(address)});
        if (several.empty())
            found_.push_back({{}, to_clean_utf8(one.raw)});
    }

    std::string_view value_;
    std::size_t max_addresses_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
    entry entry_;
    std::vector<entry> pending_; // entries of words only, which may be the next entry's name
    std::vector<email_address> found_;
    bool has_unclosed_quote_ = false;
    bool has_unclosed_comment_ = false;
    bool has_group_ = false; // a group with a name
    bool lacks_comma_ = false;
    bool is_decoded_ = false; // the value was an encoded word: nothing in it is decoded again
};

} // namespace

bool is_address(std::string_view text)
{
    if (!text.empty() && encoded_word_length(text) == text.size())
        return false; // it may hold one
    std::size_t at = 0;
    while (at < text.size() && text[at] != '@') {
        if (text[at] == '"') {
            const bool begins_word = at == 0 || text[at - 1] == '.';
            at = quoted_end(text, at);
            if (!begins_word || at >= text.size() || (text[at] != '@' && text[at] != '.'))
                return false;
        } else if (!is_atom_character(text[at++])) {
            return false;
        }
    }
    return at != 0 && at < text.size() && is_domain(text.substr(at + 1));
}

address_list parse_addresses(std::string_view value, std::size_t max_addresses)
{
    return address_reader(value, max_addresses).read();
}

} // namespace tempinbox::mime
