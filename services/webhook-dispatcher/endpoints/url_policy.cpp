#include "webhook-dispatcher/endpoints/url_policy.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/http/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace tempinbox::webhooks {
namespace {

constexpr std::size_t max_url_length = 2'048;
constexpr std::array<std::uint16_t, 4> low_ports{80, 443, 8080, 8443};
// Services that understand enough of HTTP to be abused: mail, etcd, PostgreSQL, Redis, Kafka and
// their like.
constexpr std::array<std::uint16_t, 12> denied_ports{2375, 2376, 2379, 2380, 3306,  5432,
                                                     5672, 6379, 9092, 9200, 11211, 27017};

failure refuse(std::string_view what)
{
    return failure{errc::invalid_argument, "url " + std::string(what)};
}

bool is_plain(std::string_view url)
{
    return std::all_of(url.begin(), url.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte < 0x7f && c != '\\';
    });
}

bool is_port_allowed(std::uint16_t port)
{
    if (port < 1024)
        return std::find(low_ports.begin(), low_ports.end(), port) != low_ports.end();
    return std::find(denied_ports.begin(), denied_ports.end(), port) == denied_ports.end();
}

// What system resolvers read as a number: decimal, octal or 0x-hexadecimal.
bool is_number(std::string_view label)
{
    const bool is_hex = label.starts_with("0x") || label.starts_with("0X");
    if (is_hex)
        label.remove_prefix(2);
    return std::all_of(label.begin(), label.end(),
                       [is_hex](char c) { return is_hex ? hex_value(c) >= 0 : is_digit(c); });
}

bool is_host_name(std::string_view host)
{
    if (host.ends_with('.'))
        host.remove_suffix(1);
    if (host.empty() || host.size() > 253)
        return false;
    while (true) {
        const auto dot = host.find('.');
        const auto label = host.substr(0, dot);
        const bool is_sound =
            !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
            std::all_of(label.begin(), label.end(),
                        [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
        if (!is_sound)
            return false;
        if (dot == std::string_view::npos)
            return true;
        host.remove_prefix(dot + 1);
    }
}

std::string_view last_label(std::string_view host)
{
    if (host.ends_with('.'))
        host.remove_suffix(1);
    const auto dot = host.rfind('.');
    return dot == std::string_view::npos ? host : host.substr(dot + 1);
}

struct url_parts
{
    std::string_view host; // as written, IPv6 in brackets
    std::optional<std::string_view> port;
    bool has_user = false;
};

// RFC 3986 3.2 for what follows `scheme://`.
url_parts split_authority(std::string_view after_scheme)
{
    url_parts parts;
    auto authority = after_scheme.substr(0, after_scheme.find_first_of("/?#"));
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        parts.has_user = true;
        authority.remove_prefix(at + 1);
    }
    const auto bracket = authority.rfind(']');
    const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
    parts.host = authority.substr(0, colon);
    if (colon != std::string_view::npos)
        parts.port = authority.substr(colon + 1);
    return parts;
}

std::optional<std::uint16_t> read_port(std::string_view text)
{
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return port;
}

result<url_target> check_host(std::string_view written, const url_policy& policy)
{
    url_target target;
    const bool has_brackets = written.size() > 2 && written.front() == '[' && written.back() == ']';
    target.host = to_lower_ascii(has_brackets ? written.substr(1, written.size() - 2) : written);

    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(target.host, error);
    if (!error && address.is_v6() == has_brackets) {
        target.is_literal = true;
        if (!policy.addresses.allows(address))
            return refuse("must lead to a public address; " + quote(written) +
                          " is private, local or reserved");
        return target;
    }
    if (!is_host_name(target.host))
        return refuse("must have a valid host (letters, digits, hyphens and dots; international "
                      "names as xn--), not " +
                      quote(written));
    // getaddrinfo reads 2130706433, 0x7f.1 and 127.1 as addresses.
    if (is_number(last_label(target.host)))
        return refuse(
            "must not have a host that ends in a number unless it is a plain IPv4 address, not " +
            quote(written));
    return target;
}

} // namespace

result<url_target> check_url(std::string_view url, const url_policy& policy)
{
    if (url.empty())
        return refuse("is required");
    if (url.size() > max_url_length)
        return refuse("must be at most " + std::to_string(max_url_length) +
                      " characters long, not " + std::to_string(url.size()));
    if (!is_plain(url))
        return refuse("must not contain spaces, backslashes, control or non-ASCII characters; "
                      "percent-encode them");

    const auto lower = to_lower_ascii(url);
    const bool is_https = lower.starts_with("https://");
    if (!is_https && !(policy.allows_http && lower.starts_with("http://")))
        return refuse(std::string(policy.allows_http ? "must begin with https:// or http://"
                                                     : "must begin with https://") +
                      ", not " + quote(url));
    if (url.find('#') != std::string_view::npos)
        return refuse("must not have a fragment (#…)");
    const auto parts = split_authority(url.substr(is_https ? 8 : 7));
    if (parts.has_user)
        return refuse("must not contain a user name or password");
    const auto port =
        parts.port ? read_port(*parts.port) : std::optional<std::uint16_t>{is_https ? 443 : 80};
    if (!port || !is_port_allowed(*port))
        return refuse("must use port 80, 443, 8080, 8443 or one above 1023 that no other protocol "
                      "is known by, not " +
                      quote(parts.port.value_or("")));
    auto target = check_host(parts.host, policy);
    if (!target)
        return target;

    // The host checked here must be the one the HTTP client will dial.
    const auto dialled = http::target_url::parse(url);
    if (!dialled || dialled->host != target->host || dialled->port != *port)
        return refuse("must be an absolute URL such as https://example.com/hook, not " +
                      quote(url));
    return target;
}

endpoint apply_url_policy(endpoint stored, const url_policy& policy)
{
    static const address_policy every_address(
        {*network::parse("0.0.0.0/0"), *network::parse("::/0")}, {});
    url_policy without_addresses;
    without_addresses.addresses = every_address;
    without_addresses.allows_http = policy.allows_http;
    const auto checked = check_url(stored.url, without_addresses);
    if (checked)
        return stored;
    stored.is_refused = true;
    stored.is_enabled = false;
    stored.disabled_reason =
        "the service's rules for URLs refuse its own: " + checked.error().message;
    return stored;
}

} // namespace tempinbox::webhooks
