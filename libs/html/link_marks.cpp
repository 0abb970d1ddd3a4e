#include "html/link_marks.hpp"

#include "common/core/encoding.hpp"
#include "common/core/ids.hpp"
#include "common/core/text.hpp"

#include <array>

namespace tempinbox::html {
namespace {

constexpr std::string_view left = "\u27e8", right = "\u27e9"; // mathematical angle brackets
constexpr std::size_t nonce_bytes = 8;

// Need not be a secret: the mail was there before it.
std::string make_nonce()
{
    std::array<std::uint8_t, nonce_bytes> bytes{};
    fill_with_random(bytes);
    return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

} // namespace

link_marks::link_marks() : nonce_(make_nonce()) {}

std::string link_marks::name_hosts(std::string_view text) const
{
    const auto safe = without_link_marks(text);
    std::string named;
    bool is_host = false;
    for (std::string_view rest = safe;; is_host = !is_host) {
        const auto at = rest.find(nonce_);
        named.append(rest.substr(0, at));
        if (at == std::string_view::npos)
            return named;
        if (is_host)
            named.append(right);
        else
            named.append(left).append("link: ");
        rest.remove_prefix(at + nonce_.size());
    }
}

std::string without_link_marks(std::string_view text)
{
    return replace_all(replace_all(text, left, "<"), right, ">");
}

} // namespace tempinbox::html
