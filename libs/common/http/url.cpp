#include "common/http/url.hpp"

#include "common/core/text.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <charconv>

namespace tempinbox::http {

namespace urls = boost::urls;
namespace {

// Boost.URL 1.81 takes the dotted quad at the start of `1.2.3.4.example.com` for the whole host and
// the rest for a path, though a path after an authority begins with a slash (RFC 3986 3.3). With
// its first digit percent-encoded, such a host is read as a name. Boost 1.83 needs no help.
std::string spell_for_boost(std::string_view text)
{
    std::string spelled(text);
    const auto parsed = urls::parse_uri(text);
    if (!parsed || parsed->host_type() != urls::host_type::ipv4)
        return spelled;
    const auto path = parsed->encoded_path();
    if (path.empty() || path.front() == '/')
        return spelled;
    const auto first = static_cast<std::size_t>(parsed->encoded_host().data() - text.data());
    spelled.replace(first, 1, std::string("%3") + text[first]);
    return spelled;
}

} // namespace

result<target_url> target_url::parse(std::string_view text)
{
    const auto refuse = [text](std::string_view why) {
        return failure{errc::invalid_argument, "the URL " + quote(text) + " " + std::string(why)};
    };
    const std::string spelled = spell_for_boost(text);
    const auto parsed = urls::parse_uri(spelled);
    if (!parsed)
        return refuse("is not a URL");
    const urls::url_view& url = *parsed;

    target_url parts;
    if (url.scheme_id() != urls::scheme::http && url.scheme_id() != urls::scheme::https)
        return refuse("must begin with http:// or https://");
    if (url.has_userinfo())
        return refuse("must not carry a user name or password");
    parts.is_tls = url.scheme_id() == urls::scheme::https;
    switch (url.host_type()) {
    case urls::host_type::name:
        parts.host = url.host_name();
        break;
    case urls::host_type::ipv6:
        // Such as `fe80::1%25eth0` (RFC 6874), which Boost 1.81 refuses and 1.83 reads.
        if (url.encoded_authority().find('%') != std::string_view::npos)
            return refuse("names a network interface");
        parts.host = url.host_address();
        break;
    case urls::host_type::ipv4:
        parts.host = url.host_address();
        break;
    default:
        return refuse("has no host");
    }
    if (parts.host.empty())
        return refuse("has no host");
    for (const char c : parts.host)
        if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f ||
            c == '/' || c == '\\')
            return refuse("has a host that is no host name");
    const std::uint16_t usual_port = parts.is_tls ? 443 : 80;
    parts.port = usual_port;
    if (url.has_port() && !url.port().empty()) {
        const auto digits = url.port();
        const auto end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, parts.port);
        if (read.ec != std::errc() || read.ptr != end || parts.port == 0)
            return refuse("has a port that is none");
    }

    parts.host = to_lower_ascii(parts.host);
    parts.authority =
        url.host_type() == urls::host_type::ipv6 ? "[" + parts.host + "]" : parts.host;
    if (parts.port != usual_port)
        parts.authority += ":" + std::to_string(parts.port);
    const auto target = url.encoded_target();
    parts.target.assign(target.data(), target.size());
    if (parts.target.empty() || parts.target.front() != '/')
        parts.target.insert(0, "/");
    return parts;
}

} // namespace tempinbox::http
