#include "gateway/long_poll/feed_cursor.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <limits>

namespace tempinbox::gateway {
namespace {

constexpr char version = 1;
constexpr std::size_t digest_bytes = 6;

void put_varint(std::string& out, std::uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        out += static_cast<char>((number & 0x7f) | 0x80);
    out += static_cast<char>(number);
}

// In the one form that put_varint writes; nullopt for any other.
std::optional<std::uint64_t> take_varint(std::string_view& bytes)
{
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes.size() && i < 9; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        number |= std::uint64_t{byte & 0x7fU} << (7 * i);
        if (byte < 0x80) {
            if (byte == 0 && i > 0)
                return std::nullopt;
            bytes.remove_prefix(i + 1);
            return number;
        }
    }
    return std::nullopt;
}

std::string digest_of(account_id account, feed_position at)
{
    const auto said = "feed " + account.text() + " " + std::to_string(at.epoch) + " " +
                      std::to_string(at.position);
    return crypto::sha256(said).substr(0, digest_bytes);
}

failure refuse(std::string_view text)
{
    return failure{errc::invalid_argument,
                   "after must be a cursor of this account, latest, earliest, or the id of an "
                   "event in its feed, not " +
                       quote(text),
                   error_reason::invalid_cursor};
}

} // namespace

std::string make_feed_cursor(account_id account, feed_position at)
{
    std::string bytes(1, version);
    put_varint(bytes, static_cast<std::uint64_t>(at.epoch));
    put_varint(bytes, static_cast<std::uint64_t>(at.position));
    return to_base64url(bytes + digest_of(account, at));
}

result<feed_position> read_feed_cursor(account_id account, std::string_view text)
{
    if (text.size() > max_feed_cursor_length)
        return refuse(text);
    const auto decoded = from_base64url(text);
    if (!decoded || decoded->empty() || decoded->front() != version)
        return refuse(text);
    std::string_view rest(*decoded);
    rest.remove_prefix(1);
    const auto epoch = take_varint(rest);
    const auto position = epoch ? take_varint(rest) : std::nullopt;
    if (!position || *epoch > std::numeric_limits<std::int32_t>::max())
        return refuse(text);
    const feed_position at{static_cast<int>(*epoch), static_cast<std::int64_t>(*position)};
    if (rest != digest_of(account, at))
        return refuse(text);
    return at;
}

} // namespace tempinbox::gateway
