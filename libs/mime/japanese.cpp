#include "mime/japanese.hpp"

#include "mime/converter.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tempinbox::mime {
namespace {

// Microsoft's Shift_JIS has the most of the 94 × 94 characters of JIS X 0208, with the meaning that
// the web gives them.
constexpr const char* jis = "CP932";
constexpr const char* supplement = "EUC-JP-MS"; // JIS X 0212

bool is_in_set(unsigned char c)
{
    return c >= 0x21 && c <= 0x7e;
}

// Joins what one converter is to read.
class text_builder
{
public:
    void put(const char* charset, std::string_view bytes)
    {
        if (charset != charset_)
            flush();
        charset_ = charset;
        pending_ += bytes;
    }
    void put(const char* charset, unsigned char byte)
    {
        const char c = static_cast<char>(byte);
        put(charset, std::string_view(&c, 1));
    }
    void put(const char* charset, unsigned char first, unsigned char second)
    {
        const char both[] = {static_cast<char>(first), static_cast<char>(second)};
        put(charset, std::string_view(both, 2));
    }

    // A row and a cell of JIS X 0208, both from 0x21.
    void put_jis(unsigned char row, unsigned char cell)
    {
        const int lead = (row - 0x21) / 2 + 0x81;
        const int trail = row % 2 == 0 ? cell + 0x7e : cell + 0x1f + (cell >= 0x60 ? 1 : 0);
        put(jis, static_cast<unsigned char>(lead > 0x9f ? lead + 0x40 : lead),
            static_cast<unsigned char>(trail));
    }

    void put_text(std::string_view utf8)
    {
        flush();
        text_ += utf8;
    }
    void put_unknown() { put_text("\xef\xbf\xbd"); }

    std::string take()
    {
        flush();
        return std::move(text_);
    }

private:
    void flush()
    {
        if (!pending_.empty())
            text_ += convert(charset_, pending_);
        pending_.clear();
    }

    const char* charset_ = jis;
    std::string pending_;
    std::string text_;
};

enum class character_set { ascii, roman, katakana, jis, supplement, chinese, korean };

struct designation
{
    std::string_view escape; // after ESC
    character_set set;
};

// The longer of those that begin alike come first.
constexpr designation designations[] = {
    {"$(D", character_set::supplement}, {"$(C", character_set::korean},
    {"$(@", character_set::jis},        {"$(B", character_set::jis},
    {"$(O", character_set::jis},        {"$(Q", character_set::jis},
    {"$(A", character_set::chinese},    {"$@", character_set::jis},
    {"$B", character_set::jis},         {"$A", character_set::chinese},
    {"(B", character_set::ascii},       {"(J", character_set::roman},
    {"(H", character_set::roman},       {"(I", character_set::katakana},
};

class iso_2022_jp_reader
{
public:
    explicit iso_2022_jp_reader(std::string_view bytes) : bytes_(bytes) {}

    std::string read()
    {
        while (at_ < bytes_.size()) {
            const auto c = static_cast<unsigned char>(bytes_[at_]);
            if (c == 0x1b)
                take_escape();
            else if (c == 0x0e || c == 0x0f)
                take_shift(c == 0x0e);
            else if (c >= 0x80)
                take_byte(c);
            else if (!is_in_set(c))
                take_plain(c);
            else
                take_character(c);
        }
        return text_.take();
    }

private:
    void take_escape()
    {
        ++at_;
        const auto rest = bytes_.substr(at_);
        for (const auto& known : designations) {
            if (!rest.starts_with(known.escape))
                continue;
            set_ = known.set;
            at_ += known.escape.size();
            return;
        }
        if (rest.starts_with("&@")) { // JIS X 0208 of 1990: another escape follows
            at_ += 2;
        } else if (rest.starts_with(".A") || rest.starts_with(".F")) { // RFC 1554
            high_half_ = rest[1] == 'A' ? "ISO-8859-1" : "ISO-8859-7";
            at_ += 2;
        } else if (rest.starts_with("N") && rest.size() > 1 && high_half_) {
            text_.put(high_half_, static_cast<unsigned char>(rest[1] | 0x80));
            at_ += 2;
        } else {
            text_.put_unknown();
        }
    }

    // 50222: SO and SI around half-width kana.
    void take_shift(bool is_out)
    {
        is_shifted_ = is_out;
        ++at_;
    }

    void take_plain(unsigned char c)
    {
        text_.put(jis, c);
        ++at_;
    }

    // Half-width kana without any escape.
    void take_byte(unsigned char c)
    {
        if (c >= 0xa1 && c <= 0xdf)
            text_.put(jis, c);
        else
            text_.put_unknown();
        ++at_;
    }

    void take_character(unsigned char c)
    {
        if (is_shifted_ || set_ == character_set::katakana) {
            if (c <= 0x5f)
                text_.put(jis, static_cast<unsigned char>(c | 0x80));
            else
                text_.put_unknown();
            ++at_;
        } else if (set_ == character_set::ascii || set_ == character_set::roman) {
            if (set_ == character_set::roman && (c == '\\' || c == '~'))
                text_.put_text(c == '\\' ? "\u00a5" : "\u203e");
            else
                text_.put(jis, c);
            ++at_;
        } else {
            take_pair(c);
        }
    }

    void take_pair(unsigned char first)
    {
        ++at_;
        const auto second =
            at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_]) : std::uint8_t{0};
        if (!is_in_set(second))
            return text_.put_unknown();
        ++at_;
        const auto high = static_cast<unsigned char>(first | 0x80);
        const auto low = static_cast<unsigned char>(second | 0x80);
        if (set_ == character_set::chinese)
            return text_.put("GB18030", high, low);
        if (set_ == character_set::korean)
            return text_.put("CP949", high, low);
        if (set_ == character_set::jis)
            return text_.put_jis(first, second);
        text_.put(supplement, 0x8f);
        text_.put(supplement, high, low);
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    text_builder text_;
    character_set set_ = character_set::ascii;
    const char* high_half_ = nullptr;
    bool is_shifted_ = false;
};

} // namespace

std::string decode_iso_2022_jp(std::string_view bytes)
{
    return iso_2022_jp_reader(bytes).read();
}

std::string decode_euc_jp(std::string_view bytes)
{
    text_builder text;
    const auto byte_at = [bytes](std::size_t at) {
        return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : std::uint8_t{0};
    };
    const auto is_high = [](unsigned char c) { return c >= 0xa1 && c <= 0xfe; };
    for (std::size_t at = 0; at < bytes.size();) {
        const auto first = byte_at(at);
        const auto second = byte_at(at + 1);
        const auto third = byte_at(at + 2);
        if (first < 0x80) {
            text.put(jis, first);
            at += 1;
        } else if (first == 0x8e && second >= 0xa1 && second <= 0xdf) {
            text.put(jis, second);
            at += 2;
        } else if (first == 0x8f && is_high(second) && is_high(third)) {
            text.put(supplement, bytes.substr(at, 3));
            at += 3;
        } else if (is_high(first) && is_high(second)) {
            text.put_jis(first & 0x7f, second & 0x7f);
            at += 2;
        } else {
            text.put_unknown();
            // What cannot be the second byte begins a character of its own.
            at += is_high(first) && second >= 0x80 ? 2 : 1;
        }
    }
    return text.take();
}

} // namespace tempinbox::mime
