#include "mail-ingest/smtp/proxy_header.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace tempinbox;
using smtp::proxy_header_parser;
using status = smtp::proxy_header_parser::status;
using kind = smtp::proxy_header::kind;

namespace {

struct outcome
{
    proxy_header_parser parser;
    std::size_t used = 0;
};

outcome parse(std::string_view bytes, std::size_t piece_bytes = 1'000)
{
    outcome found;
    while (found.used < bytes.size()) {
        const auto piece = bytes.substr(found.used, piece_bytes);
        const auto taken = found.parser.take(piece);
        found.used += taken;
        if (taken < piece.size())
            break;
    }
    return found;
}

// A version 2 header with any thirteenth and fourteenth byte.
std::string v2(int command, int family, const std::string& block)
{
    std::string bytes("\r\n\r\n\0\r\nQUIT\n", 12);
    bytes += static_cast<char>(command);
    bytes += static_cast<char>(family);
    bytes += static_cast<char>(block.size() / 256);
    bytes += static_cast<char>(block.size() % 256);
    return bytes + block;
}

// 192.0.2.1:56324 → 192.0.2.2:25
const std::string tcp4_block("\xc0\0\2\1\xc0\0\2\2\xdc\4\0\x19", 12);
// [2001:db8::1]:56324 → [2001:db8::2]:25
const std::string tcp6_block("\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
                             "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2\xdc\4\0\x19",
                             36);

} // namespace

TEST_CASE("headers that name a client, or say why they do not", "[smtp][proxy]")
{
    struct row
    {
        std::string bytes;
        int version;
        kind what;
        std::string client; // empty: none
    };
    const std::string max_v6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    const std::vector<row> rows{
        {"PROXY TCP4 192.0.2.1 192.0.2.2 56324 25\r\n", 1, kind::tcp4, "192.0.2.1"},
        {"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", 1, kind::tcp4,
         "255.255.255.255"},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 0 0\r\n", 1, kind::tcp4, "192.0.2.1"},
        {"PROXY TCP6 2001:db8::1 2001:DB8::2 56324 25\r\n", 1, kind::tcp6, "2001:db8::1"},
        {"PROXY TCP6 ::ffff:192.0.2.1 ::1 56324 25\r\n", 1, kind::tcp6, "::ffff:192.0.2.1"},
        {"PROXY TCP6 " + max_v6 + " " + max_v6 + " 65535 65535\r\n", 1, kind::tcp6, max_v6},
        {"PROXY UNKNOWN\r\n", 1, kind::unknown, ""},
        {"PROXY UNKNOWN " + max_v6 + " " + max_v6 + " 65535 65535\r\n", 1, kind::unknown, ""},
        {"PROXY UNKNOWN whatever\t is\r here\r\n", 1, kind::unknown, ""},
        {v2(0x21, 0x11, tcp4_block), 2, kind::tcp4, "192.0.2.1"},
        {v2(0x21, 0x21, tcp6_block), 2, kind::tcp6, "2001:db8::1"},
        {v2(0x21, 0x11, tcp4_block + std::string("\xea\0\x03xyz", 6)), 2, kind::tcp4, "192.0.2.1"},
        {v2(0x21, 0x21, tcp6_block + std::string(536 - 16 - 36, '\n')), 2, kind::tcp6,
         "2001:db8::1"},
        {v2(0x21, 0x00, ""), 2, kind::unknown, ""},
        {v2(0x21, 0x00, tcp4_block), 2, kind::unknown, ""},
        {v2(0x20, 0x00, ""), 2, kind::local, ""},
        {v2(0x20, 0x11, tcp4_block), 2, kind::local, ""},
        {v2(0x20, 0xff, "anything"), 2, kind::local, ""},
    };
    for (const auto& [bytes, version, what, client] : rows) {
        CAPTURE(bytes);
        const auto found = parse(bytes);

        REQUIRE(found.parser.current() == status::complete);
        CHECK(found.used == bytes.size());
        CHECK(found.parser.header().version == version);
        CHECK(found.parser.header().what == what);
        if (!client.empty())
            CHECK(found.parser.header().client.to_string() == client);
    }
}

TEST_CASE("what is no header, or none of TCP, is refused with its reason", "[smtp][proxy]")
{
    struct row
    {
        std::string bytes;
        status why;
    };
    const std::vector<row> rows{
        {"EHLO client.test\r\n", status::malformed},
        {"PROXY\r\n", status::malformed},
        {"proxy TCP4 192.0.2.1 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY  TCP4 192.0.2.1 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY TCP4  192.0.2.1 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 56324 25 \r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 56324 25\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 56324\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 56324 65536\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 -1 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 +1 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 056 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 x 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.01 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.256 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY TCP4 192.0.2.1 mail.test 56324 25\r\n", status::malformed},
        {"PROXY TCP4 2001:db8::1 2001:db8::2 56324 25\r\n", status::malformed},
        {std::string("PROXY TCP4 192.0.2.1\0 192.0.2.2 56324 25\r\n", 42), status::malformed},
        {"PROXY TCP6 192.0.2.1 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY TCP6 fe80::1%eth0 2001:db8::2 56324 25\r\n", status::malformed},
        {"PROXY TCP6 2001:db8:::1 2001:db8::2 56324 25\r\n", status::malformed},
        {"PROXY UDP4 192.0.2.1 192.0.2.2 56324 25\r\n", status::malformed},
        {"PROXY UNKNOWNS\r\n", status::malformed},
        {"PROXY \r\n", status::malformed},
        {"\r\n\r\nEHLO client.test\r\n", status::malformed},
        {v2(0x11, 0x11, tcp4_block), status::malformed},
        {v2(0x31, 0x11, tcp4_block), status::malformed},
        {v2(0x22, 0x11, tcp4_block), status::malformed},
        {v2(0x2f, 0x11, tcp4_block), status::malformed},
        {v2(0x21, 0x10, tcp4_block), status::malformed},
        {v2(0x21, 0x13, tcp4_block), status::malformed},
        {v2(0x21, 0x41, tcp4_block), status::malformed},
        {v2(0x21, 0x01, tcp4_block), status::malformed},
        {v2(0x21, 0x11, tcp4_block.substr(1)), status::malformed},
        {v2(0x21, 0x21, tcp6_block.substr(1)), status::malformed},
        {v2(0x21, 0x12, tcp4_block), status::unsupported},
        {v2(0x21, 0x22, tcp6_block), status::unsupported},
        {v2(0x21, 0x31, std::string(216, 's')), status::unsupported},
        {v2(0x21, 0x32, std::string(216, 's')), status::unsupported},
        {"PROXY UNKNOWN " + std::string(94, 'x') + "\r\n", status::too_long},
        {v2(0x21, 0x11, tcp4_block + std::string(536 - 16 - 12 + 1, 't')), status::too_long},
        {v2(0x20, 0x00, std::string(65'535, 't')), status::too_long},
    };
    for (const auto& [bytes, why] : rows) {
        CAPTURE(bytes.substr(0, 120));
        CHECK(parse(bytes).parser.current() == why);
    }
}

TEST_CASE("a header has at most 107 bytes in version 1 and 536 in version 2", "[smtp][proxy]")
{
    const std::string max_v1 = "PROXY UNKNOWN " + std::string(91, 'x') + "\r\n";
    REQUIRE(max_v1.size() == 107);
    const auto max_v2 = v2(0x20, 0x00, std::string(536 - 16, 't'));

    CHECK(parse(max_v1).parser.current() == status::complete);
    CHECK(parse(max_v2).parser.current() == status::complete);

    // It is refused without waiting for what would be too much.
    const auto too_long_v1 = parse("PROXY UNKNOWN " + std::string(1'000, 'x'));
    CHECK(too_long_v1.parser.current() == status::too_long);
    CHECK(too_long_v1.used == 107);
    const auto too_long_v2 = parse(v2(0x20, 0x00, std::string(521, 't')));
    CHECK(too_long_v2.parser.current() == status::too_long);
    CHECK(too_long_v2.used == 16);
}

TEST_CASE("a header may come in any pieces, and takes nothing of what follows it", "[smtp][proxy]")
{
    const std::vector<std::string> headers{"PROXY TCP4 192.0.2.1 192.0.2.2 56324 25\r\n",
                                           "PROXY UNKNOWN\r\n", v2(0x21, 0x21, tcp6_block + "TLVs"),
                                           v2(0x20, 0x00, "")};
    for (const auto& header : headers) {
        for (std::size_t piece = 1; piece <= header.size() + 1; ++piece) {
            CAPTURE(header, piece);
            const auto found = parse(header + "EHLO client.test\r\n", piece);

            CHECK(found.parser.current() == status::complete);
            CHECK(found.used == header.size());
        }
        for (std::size_t size = 0; size < header.size(); ++size) {
            const auto found = parse(header.substr(0, size));

            CHECK(found.parser.current() == status::incomplete);
            CHECK(found.parser.has_begun() == (size > 0));
        }
    }
}

TEST_CASE("a client that sends no header is refused by its first byte", "[smtp][proxy]")
{
    const auto found = parse("EHLO client.test\r\n");

    CHECK(found.parser.current() == status::malformed);
    CHECK(found.used == 1);
}
