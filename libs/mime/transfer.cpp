#include "mime/transfer.hpp"

#include "common/core/ascii.hpp"
#include "common/crypto/digest.hpp"

#include <array>
#include <cstdint>

namespace tempinbox::mime {
namespace {

constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> make_base64_digits()
{
    std::array<std::uint8_t, 256> digits{};
    digits.fill(no_digit);
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        digits[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
    return digits;
}

constexpr auto base64_digits = make_base64_digits();

bool is_line_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct keeping_sink
{
    std::string bytes;
    void put(char c) { bytes.push_back(c); }
    void put(std::string_view text) { bytes.append(text); }
};

struct counting_sink
{
    std::size_t count = 0;
    void put(char) { ++count; }
    void put(std::string_view text) { count += text.size(); }
};

// Gathers bytes, since a digest of one at a time is slow.
class digesting_sink
{
public:
    void put(char c)
    {
        if (filled_ == gathered_.size())
            flush();
        gathered_[filled_++] = c;
    }
    void put(std::string_view text)
    {
        flush();
        digest_.add(text);
        count_ += text.size();
    }

    decoded_summary finish(bool is_damaged)
    {
        flush();
        return {.size = count_, .sha256 = digest_.finish(), .is_damaged = is_damaged};
    }

private:
    void flush()
    {
        digest_.add(std::string_view(gathered_.data(), filled_));
        count_ += filled_;
        filled_ = 0;
    }

    crypto::sha256_digest digest_;
    std::array<char, 4'096> gathered_;
    std::size_t filled_ = 0;
    std::size_t count_ = 0;
};

// RFC 2045 6.8.
template <class Sink>
bool decode_base64(std::string_view body, Sink& sink)
{
    bool is_damaged = false;
    std::uint32_t quantum = 0;
    int digits = 0;
    std::size_t at = 0;
    for (; at < body.size(); ++at) {
        const auto digit = base64_digits[static_cast<std::uint8_t>(body[at])];
        if (digit != no_digit) {
            quantum = quantum << 6 | digit;
            if (++digits == 4) {
                sink.put(static_cast<char>(quantum >> 16));
                sink.put(static_cast<char>(quantum >> 8));
                sink.put(static_cast<char>(quantum));
                digits = 0;
            }
        } else if (body[at] == '=') {
            break;
        } else if (!is_line_blank(body[at])) {
            is_damaged = true;
        }
    }
    if (digits == 1)
        is_damaged = true;
    if (digits >= 2)
        sink.put(static_cast<char>(quantum >> (digits == 3 ? 10 : 4)));
    if (digits == 3)
        sink.put(static_cast<char>(quantum >> 2));
    if (digits != 0 && at == body.size())
        is_damaged = true;
    for (; at < body.size() && !is_damaged; ++at)
        is_damaged = body[at] != '=' && !is_line_blank(body[at]);
    return is_damaged;
}

// Decodes the two hex digits of an escape; -1 if they are none.
int escaped_byte(std::string_view text, std::size_t at)
{
    if (at + 1 >= text.size())
        return -1;
    const int high = hex_value(text[at]);
    const int low = hex_value(text[at + 1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Decodes one line without its end; true if it ends in a soft break. RFC 2045 6.7 rules 1 to 5.
template <class Sink>
bool decode_quoted_line(std::string_view line, Sink& sink, bool& is_damaged)
{
    const auto last = line.find_last_not_of(" \t");
    line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const bool is_soft = !line.empty() && line.back() == '=';
    if (is_soft)
        line.remove_suffix(1);
    for (;;) {
        const auto escape = line.find('=');
        sink.put(line.substr(0, escape));
        if (escape == std::string_view::npos)
            return is_soft;
        const int byte = escaped_byte(line, escape + 1);
        if (byte < 0) {
            is_damaged = true;
            sink.put('=');
            line.remove_prefix(escape + 1);
        } else {
            sink.put(static_cast<char>(byte));
            line.remove_prefix(escape + 3);
        }
    }
}

template <class Sink>
bool decode_quoted_printable(std::string_view body, Sink& sink)
{
    bool is_damaged = false;
    while (!body.empty()) {
        const auto end = body.find('\n');
        auto line = body.substr(0, end);
        const bool has_carriage =
            end != std::string_view::npos && !line.empty() && line.back() == '\r';
        if (has_carriage)
            line.remove_suffix(1);
        const bool is_soft = decode_quoted_line(line, sink, is_damaged);
        if (end == std::string_view::npos)
            break;
        if (!is_soft)
            sink.put(has_carriage ? std::string_view("\r\n") : std::string_view("\n"));
        body.remove_prefix(end + 1);
    }
    return is_damaged;
}

template <class Sink>
bool decode_into(encoding how, std::string_view body, Sink& sink)
{
    switch (how) {
    case encoding::base64:
        return decode_base64(body, sink);
    case encoding::quoted_printable:
        return decode_quoted_printable(body, sink);
    case encoding::identity:
        break;
    }
    sink.put(body);
    return false;
}

} // namespace

decoded decode(encoding how, std::string_view body)
{
    keeping_sink sink;
    sink.bytes.reserve(how == encoding::base64 ? body.size() / 4 * 3 + 3 : body.size());
    decoded result;
    result.is_damaged = decode_into(how, body, sink);
    result.bytes = std::move(sink.bytes);
    return result;
}

std::size_t decoded_size(encoding how, std::string_view body, bool& is_damaged)
{
    counting_sink sink;
    is_damaged = decode_into(how, body, sink);
    return sink.count;
}

decoded_summary digest_decoded(encoding how, std::string_view body)
{
    digesting_sink sink;
    const bool is_damaged = decode_into(how, body, sink);
    return sink.finish(is_damaged);
}

std::string decode_q(std::string_view text)
{
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const int escaped = text[at] == '=' ? escaped_byte(text, at + 1) : -1;
        if (escaped >= 0) {
            bytes.push_back(static_cast<char>(escaped));
            at += 2;
        } else {
            bytes.push_back(text[at] == '_' ? ' ' : text[at]);
        }
    }
    return bytes;
}

} // namespace tempinbox::mime
