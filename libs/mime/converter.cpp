#include "mime/converter.hpp"

#include <iconv.h>

#include <array>
#include <cerrno>
#include <map>

namespace tempinbox::mime {
namespace {

// iconv's converter for one charset. Opening one loads a shared object, closing the last one
// unloads it: some 50 µs each time.
class converter
{
public:
    explicit converter(const char* charset)
        : handle_(iconv_open("UTF-8", charset)),
          has_controls_(std::string_view(charset).starts_with("WINDOWS-125") ||
                        std::string_view(charset) == "CP874")
    {}
    ~converter()
    {
        if (is_open())
            iconv_close(handle_);
    }
    converter(const converter&) = delete;
    bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

    std::string convert(std::string_view bytes)
    {
        std::string text;
        text.reserve(bytes.size() + bytes.size() / 4);
        std::array<char, 16'384> chunk;
        char* in = const_cast<char*>(bytes.data());
        std::size_t in_left = bytes.size();
        iconv(handle_, nullptr, nullptr, nullptr, nullptr); // resets the state of earlier text
        while (in_left != 0) {
            char* out = chunk.data();
            std::size_t out_left = chunk.size();
            const auto converted = iconv(handle_, &in, &in_left, &out, &out_left);
            const int reason = errno;
            text.append(chunk.data(), chunk.size() - out_left);
            if (converted != static_cast<std::size_t>(-1) || reason == E2BIG)
                continue;
            // https://encoding.spec.whatwg.org/#indexes: bytes that the code page leaves open.
            const auto byte = static_cast<unsigned char>(*in);
            if (has_controls_ && byte >= 0x80 && byte < 0xa0)
                text.append({'\xc2', static_cast<char>(byte)});
            else
                text += "\xef\xbf\xbd";
            if (reason == EINVAL)
                break; // the text ends inside a character
            ++in;
            --in_left;
        }
        // Flush: some charsets hold back a letter that a combining mark may follow.
        char* out = chunk.data();
        std::size_t out_left = chunk.size();
        iconv(handle_, nullptr, nullptr, &out, &out_left);
        text.append(chunk.data(), chunk.size() - out_left);
        return text;
    }

private:
    iconv_t handle_;
    bool has_controls_; // of C1, at the bytes that have no other character
};

// The charset with the byte order of the text, whose mark is taken off; without a mark it is little
// endian, as the web reads it. glibc's converters of UTF-16 and UTF-32 keep the order of an earlier
// text when they are reset.
const char* with_byte_order(const char* charset, std::string_view& bytes)
{
    const auto take = [&bytes](std::string_view mark) {
        const bool is_marked = bytes.starts_with(mark);
        bytes.remove_prefix(is_marked ? mark.size() : 0);
        return is_marked;
    };
    const std::string_view name(charset);
    if (name == "UTF-16") {
        if (take("\xfe\xff"))
            return "UTF-16BE";
        take("\xff\xfe");
        return "UTF-16LE";
    }
    if (name == "UTF-32") {
        if (take(std::string_view("\0\0\xfe\xff", 4)))
            return "UTF-32BE";
        take(std::string_view("\xff\xfe\0\0", 4));
        return "UTF-32LE";
    }
    return charset;
}

} // namespace

// Converters stay open, since a header field may change its charset with each word. There are at
// most as many as charsets.
std::string convert(const char* charset, std::string_view bytes)
{
    thread_local std::map<std::string_view, converter> open_ones;
    charset = with_byte_order(charset, bytes);
    auto& named = open_ones.try_emplace(charset, charset).first->second;
    return named.is_open() ? named.convert(bytes) : std::string(bytes);
}

} // namespace tempinbox::mime
