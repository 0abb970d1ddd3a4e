#include "mail-ingest/smtp/proxy_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace tempinbox::smtp {
namespace {

namespace ip = boost::asio::ip;

constexpr std::string_view v1_signature = "PROXY ";
constexpr std::string_view v2_signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t v2_prefix_bytes = 16; // signature, command, family, length

// Section 2.2: the low half of the thirteenth byte, and the fourteenth byte.
enum : unsigned { v2_local = 0, v2_proxy = 1 };
enum : unsigned {
    v2_unspecified = 0x00,
    v2_tcp4 = 0x11,
    v2_udp4 = 0x12,
    v2_tcp6 = 0x21,
    v2_udp6 = 0x22,
    v2_unix_stream = 0x31,
    v2_unix_datagram = 0x32
};

// Two addresses and two ports.
constexpr std::size_t v2_tcp4_bytes = 12;
constexpr std::size_t v2_tcp6_bytes = 36;

unsigned byte_at(std::string_view bytes, std::size_t index)
{
    return static_cast<unsigned char>(bytes[index]);
}

std::vector<std::string_view> split_words(std::string_view line)
{
    std::vector<std::string_view> words;
    for (;;) {
        const auto end = line.find(' ');
        words.push_back(line.substr(0, end));
        if (end == std::string_view::npos)
            return words;
        line.remove_prefix(end + 1);
    }
}

// Section 2.1: no leading zeros.
bool is_port(std::string_view text)
{
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() &&
           (text.size() == 1 || text.front() != '0');
}

// An address without a zone; the functions of Asio stop at a NUL and take zones.
std::optional<ip::address> read_address(std::string_view text, bool is_v6)
{
    if (text.find_first_not_of("0123456789abcdefABCDEF.:") != std::string_view::npos)
        return std::nullopt;
    boost::system::error_code error;
    auto found = ip::make_address(text, error);
    if (error || found.is_v6() != is_v6)
        return std::nullopt;
    return found;
}

template <class Address>
Address read_bytes(std::string_view bytes)
{
    typename Address::bytes_type found;
    std::copy_n(bytes.begin(), found.size(), found.begin());
    return Address(found);
}

} // namespace

std::size_t proxy_header_parser::take(std::string_view bytes)
{
    std::size_t used = 0;
    while (status_ == status::incomplete && used < bytes.size()) {
        received_.push_back(bytes[used++]);
        status_ = judge();
    }
    return used;
}

// Called after every byte, so that nothing behind the header is taken and what is no header is
// refused by its first wrong byte.
proxy_header_parser::status proxy_header_parser::judge()
{
    const bool is_v1 = received_.front() == v1_signature.front();
    const auto signature = is_v1 ? v1_signature : v2_signature;
    const std::string_view received = received_;
    if (!signature.starts_with(received.substr(0, signature.size())))
        return status::malformed;
    if (!is_v1)
        return judge_v2();
    if (received.back() == '\n')
        return read_v1();
    return received.size() < max_v1_bytes ? status::incomplete : status::too_long;
}

proxy_header_parser::status proxy_header_parser::judge_v2()
{
    if (received_.size() < v2_prefix_bytes)
        return status::incomplete;
    if (received_.size() == v2_prefix_bytes) {
        v2_bytes_ = v2_prefix_bytes + byte_at(received_, 14) * 256 + byte_at(received_, 15);
        const auto command = byte_at(received_, 12);
        if (command >> 4 != 2 || (command & 0xf) > v2_proxy)
            return status::malformed;
        if (v2_bytes_ > max_bytes)
            return status::too_long;
    }
    return received_.size() < v2_bytes_ ? status::incomplete : read_v2();
}

// Section 2.1: `PROXY TCP4 192.0.2.1 192.0.2.2 56324 25` CRLF, each space a single one.
proxy_header_parser::status proxy_header_parser::read_v1()
{
    std::string_view line = received_;
    if (!line.ends_with("\r\n"))
        return status::malformed;
    line.remove_suffix(2);
    line.remove_prefix(v1_signature.size());
    header_.version = 1;
    // The rest of the line counts for nothing then.
    if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) {
        header_.what = proxy_header::kind::unknown;
        return status::complete;
    }
    const auto words = split_words(line);
    const bool is_v6 = words.front() == "TCP6";
    if (words.size() != 5 || (!is_v6 && words.front() != "TCP4"))
        return status::malformed;
    const auto client = read_address(words[1], is_v6);
    if (!client || !read_address(words[2], is_v6) || !is_port(words[3]) || !is_port(words[4]))
        return status::malformed;
    header_.what = is_v6 ? proxy_header::kind::tcp6 : proxy_header::kind::tcp4;
    header_.client = *client;
    return status::complete;
}

// Section 2.2. The client's address comes first of the addresses.
proxy_header_parser::status proxy_header_parser::read_v2()
{
    header_.version = 2;
    // LOCAL: whatever follows is discarded, the family too.
    if ((byte_at(received_, 12) & 0xf) == v2_local) {
        header_.what = proxy_header::kind::local;
        return status::complete;
    }
    const auto addresses = std::string_view(received_).substr(v2_prefix_bytes);
    switch (byte_at(received_, 13)) {
    case v2_unspecified:
        header_.what = proxy_header::kind::unknown;
        return status::complete;
    case v2_tcp4:
        if (addresses.size() < v2_tcp4_bytes)
            return status::malformed;
        header_.what = proxy_header::kind::tcp4;
        header_.client = read_bytes<ip::address_v4>(addresses);
        return status::complete;
    case v2_tcp6:
        if (addresses.size() < v2_tcp6_bytes)
            return status::malformed;
        header_.what = proxy_header::kind::tcp6;
        header_.client = read_bytes<ip::address_v6>(addresses);
        return status::complete;
    case v2_udp4:
    case v2_udp6:
    case v2_unix_stream:
    case v2_unix_datagram:
        return status::unsupported;
    default:
        return status::malformed;
    }
}

std::string_view to_text(proxy_header::kind kind)
{
    constexpr std::string_view names[] = {"tcp4", "tcp6", "local", "unknown"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view to_text(proxy_header_parser::status status)
{
    constexpr std::string_view names[] = {"incomplete", "complete", "malformed", "too_long",
                                          "unsupported"};
    return names[static_cast<std::size_t>(status)];
}

} // namespace tempinbox::smtp
