#include "fuzz/require.hpp"
#include "mail-ingest/smtp/proxy_header.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace tempinbox;

namespace {

using smtp::proxy_header_parser;
using status = proxy_header_parser::status;

struct parsed
{
    proxy_header_parser parser;
    std::size_t used = 0;

    parsed(std::string_view bytes, std::size_t piece_bytes)
    {
        while (used < bytes.size()) {
            const auto piece = bytes.substr(used, piece_bytes);
            const auto taken = parser.take(piece);
            fuzz::require(taken == piece.size() || parser.current() != status::incomplete,
                          "a header that is incomplete takes all bytes");
            used += taken;
            if (taken < piece.size())
                return;
        }
    }
};

} // namespace

// What comes on a listener for balancers, split in many ways: the outcome is the same for all, and
// a header that is taken says what its bytes say.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(input), size);
    const parsed whole(bytes, size + 1);
    const auto& header = whole.parser.header();
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
        const parsed pieces(bytes, piece_bytes);
        fuzz::require(pieces.parser.current() == whole.parser.current() &&
                          pieces.used == whole.used,
                      "the pieces a header comes in do not matter");
        fuzz::require(pieces.parser.header().what == header.what &&
                          pieces.parser.header().client == header.client,
                      "the pieces a header comes in do not change what it says");
    }
    fuzz::require(whole.used <= proxy_header_parser::max_bytes, "a header has 536 bytes at most");
    if (whole.parser.current() != status::complete)
        return 0;

    const auto taken = bytes.substr(0, whole.used);
    const bool is_tcp4 = header.what == smtp::proxy_header::kind::tcp4;
    const bool is_tcp6 = header.what == smtp::proxy_header::kind::tcp6;
    fuzz::require(header.version == 1 || header.version == 2, "there are two versions");
    fuzz::require(!is_tcp4 || header.client.is_v4(), "TCP4 announces an IPv4 address");
    fuzz::require(!is_tcp6 || header.client.is_v6(), "TCP6 announces an IPv6 address");
    if (header.version == 1) {
        fuzz::require(taken.size() <= proxy_header_parser::max_v1_bytes,
                      "a version 1 header has 107 bytes at most");
        fuzz::require(taken.starts_with("PROXY ") && taken.find('\n') == taken.size() - 1 &&
                          taken.ends_with("\r\n"),
                      "a version 1 header is one line");
        fuzz::require(!is_tcp4 ||
                          taken.starts_with("PROXY TCP4 " + header.client.to_string() + " "),
                      "a version 1 header names the client");
    } else {
        const auto length = static_cast<std::size_t>(input[14]) * 256 + input[15];
        fuzz::require(taken.size() == 16 + length, "a version 2 header ends where it says");
    }
    return 0;
}
