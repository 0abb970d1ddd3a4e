#include "common/http/request_parser.hpp"
#include "common/http/response_parser.hpp"
#include "fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace tempinbox;
using fuzz::require;
using http::progress;

namespace {

constexpr std::uint32_t header_limit = 400;
constexpr std::uint64_t body_limit = 64;

template <class Parser>
struct parsed
{
    progress state = progress::need_more;
    std::size_t used = 0;

    // Gives the parser what came and was not used, and more, until it has enough.
    parsed(Parser& parser, std::string_view bytes, std::size_t piece_bytes)
    {
        for (std::size_t came = 0; came < bytes.size() && is_unfinished(parser.state());) {
            came = std::min(came + piece_bytes, bytes.size());
            do {
                const auto taken = parser.feed(bytes.substr(used, came - used));
                require(taken <= came - used, "a parser uses what there is");
                used += taken;
            } while (parser.state() == progress::header && used < came);
        }
        state = parser.state();
    }

    static bool is_unfinished(progress state)
    {
        return state == progress::need_more || state == progress::header;
    }
};

void try_request(std::string_view bytes, std::size_t piece_bytes)
{
    http::request whole, pieces;
    http::request_parser one(whole, header_limit, body_limit),
        many(pieces, header_limit, body_limit);
    const parsed at_once(one, bytes, bytes.size());
    const parsed in_pieces(many, bytes, piece_bytes);
    require((at_once.state == progress::complete) == (in_pieces.state == progress::complete),
            "the pieces a request comes in do not matter");
    require(whole.body.size() <= body_limit && pieces.body.size() <= body_limit,
            "a body is bounded");
    if (at_once.state != progress::complete)
        return;
    require(at_once.used == in_pieces.used, "a request ends in one place");
    require(whole.method == pieces.method && whole.target == pieces.target &&
                whole.headers == pieces.headers && whole.body == pieces.body,
            "the pieces a request comes in do not change what it says");
}

void try_response(std::string_view bytes, std::size_t piece_bytes, bool is_head)
{
    http::client_response whole, pieces;
    http::response_parser one(whole, is_head, header_limit, body_limit),
        many(pieces, is_head, header_limit, body_limit);
    const parsed at_once(one, bytes, bytes.size());
    const parsed in_pieces(many, bytes, piece_bytes);
    require((at_once.state == progress::complete) == (in_pieces.state == progress::complete),
            "the pieces a response comes in do not matter");
    require(whole.body.size() <= body_limit && pieces.body.size() <= body_limit,
            "a body is bounded");
    if (at_once.state != progress::complete)
        return;
    require(whole.status >= 100 && whole.status < 1'000, "a status has three digits");
    require(at_once.used == in_pieces.used &&
                one.leaves_connection_open() == many.leaves_connection_open(),
            "a response ends in one place");
    require(whole.status == pieces.status && whole.headers == pieces.headers &&
                whole.body == pieces.body,
            "the pieces a response comes in do not change what it says");
}

} // namespace

// What clients send and what receivers of webhooks answer, at once and in pieces: the first byte
// says which, the second how long the pieces are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    if (size < 3)
        return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(input) + 2, size - 2);
    const std::size_t piece_bytes = input[1] % 64 + 1U;
    if (input[0] == 'q')
        try_request(bytes, piece_bytes);
    else
        try_response(bytes, piece_bytes, input[0] == 'h');
    return 0;
}
