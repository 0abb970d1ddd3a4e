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
        return text.substr(1, text.size() - 2).find_first_of("[]<>@\\\" ") == std::string_view::npos;
    return is_atom(text) && text.front() != '.' && text.find("..") == std::string_view::npos;
}

// Where the quoted string that begins at `at` ends: past its closing mark, npos where there is none.
std::size_t quoted_end(std::string_view text, std::size_t at)
{
    for (++at; at < text.size(); at += text[at] == '\\' ? 2 : 1)
        if (text[at] == '"')
            return at + 1;
    return std::string_view::npos;
}

// The same of a comment, which may hold others.
std::size_t comment_end(std::string_view text, std::size_t at)
{
    std::size_t depth = 0;
    for (; at < text.size(); at += text[at] == '\\' ? 2 : 1) {
        if (text[at] == '(')
            ++depth;
        else if (text[at] == ')' && --depth == 0)
            return at + 1;
    }
    return std::string_view::npos;
}

// RFC 5322 4.4 allows blanks around `@` and dots.
std::string without_blanks_at_marks(std::string_view text)
{
    const auto quoted = text.starts_with('"') ? std::min(quoted_end(text, 0), text.size()) : 0;
    std::string tight(text.substr(0, quoted));
    for (std::size_t at = quoted; at < text.size(); ++at) {
        if (is_blank(text[at])) {
            const auto next = text.find_first_not_of(" \t", at);
            const bool is_at_mark = next == std::string_view::npos || text[next] == '@' || text[next] == '.' || tight.empty() ||
                                    tight.back() == '@' || tight.back() == '.';
            if (!is_at_mark)
                tight.push_back(' ');
            at = std::min(next, text.size()) - 1;
            continue;
        }
        tight.push_back(text[at]);
    }
    return tight;
}

// What stands between two separators.
struct entry
{
    std::string_view raw;
    std::string phrase;  // without comments, brackets and the marks of quoted strings
    std::string bare;    // the same, quoted strings as they are: an address without brackets
    std::string comment; // the first, decoded where nothing else names the address
    std::string bracketed;
    std::string trailing; // after the bracket
    bool has_bracket = false;
    bool has_two_brackets = false;
    bool has_at = false; // outside of quotes and brackets
};

// Cuts a field into entries, and entries into their pieces.
class address_reader
{
public:
    address_reader(std::string_view value, std::size_t most) : value_(value), most_(most) {}

    std::vector<mailbox_address> read()
    {
        while (at_ < value_.size() && found_.size() < most_) {
            const char c = value_[at_];
            if (c == ',')
                end_entry(true);
            else if (c == ';')
                end_entry(false);
            else if (c == ':' && !entry_.has_at && !entry_.has_bracket && entry_.bare.find('[') == std::string::npos)
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
        if (found_.size() > most_)
            found_.resize(most_);
        return std::move(found_);
    }

private:
    void take_plain(std::size_t length)
    {
        const auto text = value_.substr(at_, length);
        at_ += text.size();
        if (entry_.has_bracket) {
            entry_.trailing += text;
            return;
        }
        entry_.has_at = entry_.has_at || text == "@";
        entry_.phrase += text;
        entry_.bare += text;
    }

    void take_quoted()
    {
        const auto end = has_unclosed_quote_ ? std::string_view::npos : quoted_end(value_, at_);
        if (end == std::string_view::npos) {
            has_unclosed_quote_ = true; // and every other one after it
            return take_plain(1);
        }
        const auto whole = value_.substr(at_, end - at_);
        at_ = end;
        if (entry_.has_bracket) {
            entry_.trailing += whole;
            return;
        }
        entry_.bare += whole;
        for (std::size_t i = 1; i + 1 < whole.size(); ++i) {
            if (whole[i] == '\\' && i + 2 < whole.size())
                ++i;
            entry_.phrase.push_back(whole[i]);
        }
    }

    void take_comment()
    {
        const auto end = has_unclosed_comment_ ? std::string_view::npos : comment_end(value_, at_);
        if (end == std::string_view::npos) {
            has_unclosed_comment_ = true;
            return take_plain(1);
        }
        const auto whole = value_.substr(at_, end - at_);
        if (entry_.comment.empty())
            entry_.comment = trim(whole.substr(1, whole.size() - 2));
        if (!trim(entry_.phrase).empty() && !entry_.has_bracket)
            entry_.phrase += whole; // `Ann (at work) <ann@x.test>`
        at_ = end;
    }

    // An unclosed one ends where its entry does. A route, which may hold commas, is left out (RFC 5322 4.4).
    void take_bracket()
    {
        ++at_;
        const bool has_route = at_ < value_.size() && value_[at_] == '@';
        const auto begin = at_;
        const std::string_view ends = has_route ? "<>" : "<>,;";
        while (at_ < value_.size() && ends.find(value_[at_]) == std::string_view::npos) {
            const bool is_quoted = value_[at_] == '"' && !has_unclosed_quote_;
            const auto end = is_quoted ? quoted_end(value_, at_) : std::string_view::npos;
            has_unclosed_quote_ = has_unclosed_quote_ || (is_quoted && end == std::string_view::npos);
            at_ = end == std::string_view::npos ? at_ + 1 : end;
        }
        auto inside = value_.substr(begin, at_ - begin);
        if (at_ < value_.size() && value_[at_] == '>')
            ++at_;
        if (const auto route = has_route ? inside.find(':') : std::string_view::npos; route != std::string_view::npos)
            inside.remove_prefix(route + 1);
        entry_.has_bracket = true;
        if (trim(inside).empty())
            return;
        entry_.has_two_brackets = !entry_.bracketed.empty();
        entry_.bracketed = without_blanks_at_marks(trim(inside));
    }

    // One may hold commas that were not encoded.
    void take_encoded_word() { take_plain(std::max<std::size_t>(encoded_word_length(value_.substr(at_)), 1)); }

    void drop_group_name()
    {
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
        entry_.raw = trim(value_.substr(begin_, at_ - begin_));
        ++at_;
        const bool is_word_alone = is_comma && !entry_.has_at && !entry_.has_bracket && !trim(entry_.phrase).empty();
        if (is_word_alone) {
            constexpr std::size_t most_commas = 8;
            if (pending_.size() == most_commas)
                flush_pending();
            pending_.push_back(std::move(entry_));
        } else {
            // `Doe, Sam <sam@x.test>`: the comma should have been in quotes.
            if (!pending_.empty() && is_address(entry_.bracketed) && !entry_.has_two_brackets)
                join_pending();
            flush_pending();
            add(entry_);
        }
        start_entry();
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
                             static_cast<std::size_t>(entry_.raw.data() + entry_.raw.size() - pending_.front().raw.data()));
        pending_.clear();
    }

    void flush_pending()
    {
        for (const auto& one : pending_)
            add(one);
        pending_.clear();
    }

    void add(const entry& one)
    {
        if (one.raw.empty() || (trim(one.bare).empty() && !one.has_bracket))
            return;
        mailbox_address made;
        bool has_raw_bytes = false;
        const bool is_clear = one.trailing.find_first_of("@<") == std::string::npos && !one.has_two_brackets;
        if (one.has_bracket && is_clear && (is_address(one.bracketed) || is_atom(one.bracketed))) {
            made.address = one.bracketed;
            made.name = decode_text(trim(one.phrase), {}, has_raw_bytes);
        } else if (auto bare = without_blanks_at_marks(trim(one.bare)); !one.has_bracket && (is_address(bare) || is_atom(bare))) {
            made.address = std::move(bare);
        } else {
            made.address = to_clean_utf8(one.raw);
            found_.push_back(std::move(made));
            return;
        }
        if (made.name.empty())
            made.name = decode_text(one.comment, {}, has_raw_bytes);
        found_.push_back(std::move(made));
    }

    std::string_view value_;
    std::size_t most_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
    entry entry_;
    std::vector<entry> pending_; // words that commas alone part from the next entry
    std::vector<mailbox_address> found_;
    bool has_unclosed_quote_ = false;
    bool has_unclosed_comment_ = false;
};

// `Undisclosed recipients:;`: no address is meant.
bool is_empty_group(std::string_view value)
{
    const auto colon = value.find(':');
    return colon != std::string_view::npos && value.find_first_not_of(" ;,\t", colon + 1) == std::string_view::npos;
}

} // namespace

bool is_address(std::string_view text)
{
    std::size_t at = 0;
    if (text.starts_with('"'))
        at = quoted_end(text, 0);
    else
        while (at < text.size() && is_atom_character(text[at]))
            ++at;
    return at != 0 && at < text.size() && text[at] == '@' && is_domain(text.substr(at + 1));
}

std::vector<mailbox_address> parse_addresses(std::string_view value, std::size_t most)
{
    auto found = address_reader(value, most).read();
    if (found.empty() && !trim(value).empty() && !is_empty_group(value) && most != 0)
        found.push_back({{}, to_clean_utf8(trim(value))});
    return found;
}

} // namespace tempinbox::mime
