#include "mailbox/cursor.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::mailbox {
namespace {

constexpr std::size_t tag_size = 9;

// Guards against mixed-up lists, not against forgery: a forged position shows nothing that the list
// itself would not show.
std::string tag_of(std::string_view filter, std::string_view position)
{
    std::string text(filter);
    text += '\0';
    text += position;
    return crypto::sha256(text).substr(0, tag_size);
}

} // namespace

std::string make_cursor(std::string_view filter, std::string_view position)
{
    return to_base64url(tag_of(filter, position) + std::string(position));
}

result<std::string> read_cursor(std::string_view cursor, std::string_view filter)
{
    const auto bytes = from_base64url(cursor);
    if (!bytes || bytes->size() < tag_size)
        return failure{errc::invalid_argument, "cursor is not one that this list gave out",
                       error_reason::invalid_cursor};
    std::string position = bytes->substr(tag_size);
    if (bytes->substr(0, tag_size) != tag_of(filter, position))
        return failure{errc::invalid_argument,
                       "cursor belongs to a list with other filters or another order; start "
                       "again without it",
                       error_reason::invalid_cursor};
    return position;
}

} // namespace tempinbox::mailbox
