#include "mailbox/address_rules.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

bool is_name_character(char c)
{
    return is_lower(c) || is_digit(c);
}

// RFC 1034 3.5, as relaxed by RFC 1123 2.1.
bool is_label(std::string_view label)
{
    return !label.empty() && label.size() <= 63 && is_name_character(label.front()) &&
           is_name_character(label.back()) && std::all_of(label.begin(), label.end(), [](char c) {
               return is_name_character(c) || c == '-';
           });
}

constexpr std::size_t max_domain_length = 254 - 63 - 1;

// Sorted. Hosts of an operator, and what clients look for below a domain.
constexpr std::string_view reserved_labels[] = {
    "abuse",      "admin",        "administrator", "api",        "app",       "auth",
    "autoconfig", "autodiscover", "cdn",           "dashboard",  "dns",       "docs",
    "ftp",        "help",         "hostmaster",    "imap",       "imaps",     "localhost",
    "login",      "mail",         "mailer",        "metrics",    "mta",       "mta-sts",
    "mx1",        "mx2",          "mx3",           "ns1",        "ns2",       "ns3",
    "ns4",        "pop",          "pop3",          "postmaster", "relay",     "root",
    "security",   "smtp",         "smtps",         "ssl",        "static",    "status",
    "submission", "support",      "tls-rpt",       "webmail",    "webmaster", "wpad",
    "www"};

// Sorted.
constexpr std::string_view reserved[] = {
    "abuse",    "admin",      "administrator", "autoconfig", "autodiscover",
    "ftp",      "hostmaster", "mailer-daemon", "mta-sts",    "no-reply",
    "noc",      "noreply",    "postmaster",    "root",       "security",
    "sysadmin", "tls-rpt",    "usenet",        "uucp",       "webmaster",
    "www"};

} // namespace

result<std::string> parse_local_part(std::string_view given)
{
    std::string local = to_lower_ascii(given);
    const bool fits = !local.empty() && local.size() <= 63 && is_name_character(local.front()) &&
                      local.back() != '.' && local.find("..") == std::string::npos &&
                      std::all_of(local.begin(), local.end(), [](char c) {
                          return is_name_character(c) || c == '.' || c == '_' || c == '-';
                      });
    if (!fits)
        return failure{
            errc::invalid_argument,
            "localPart must be 1 to 63 letters, digits, dots, hyphens or underscores, "
            "begin with a letter or digit "
            "and hold no dot at its end or beside another, or be * for a catch-all, not " +
                quote(given)};
    return local;
}

result<std::string> parse_domain(std::string_view given)
{
    std::string domain = to_lower_ascii(given);
    bool fits = domain.size() <= max_domain_length && domain.find('.') != std::string::npos;
    for (std::size_t at = 0; fits && at <= domain.size();) {
        const auto end = std::min(domain.find('.', at), domain.size());
        fits = is_label(std::string_view(domain).substr(at, end - at));
        at = end + 1;
    }
    if (!fits)
        return failure{errc::invalid_argument,
                       "domain must be a name such as mail.example.com, at most " +
                           std::to_string(max_domain_length) +
                           " characters in ASCII form (xn-- for others), not " + quote(given)};
    return domain;
}

std::string catch_all_address(std::string_view domain)
{
    return std::string(catch_all_local_part) + "@" + std::string(domain);
}

result<std::string> parse_subdomain(std::string_view given)
{
    auto domain = parse_domain(given);
    if (!domain)
        return domain;
    constexpr std::size_t min_length = 3;
    constexpr std::size_t max_length = 40;
    const auto label = std::string_view(*domain).substr(0, domain->find('.'));
    if (label.size() < min_length || label.size() > max_length || !is_lower(label.front()) ||
        label.find("--") != std::string_view::npos)
        return failure{errc::invalid_argument,
                       "domain must begin with a name of " + std::to_string(min_length) + " to " +
                           std::to_string(max_length) +
                           " letters, digits and single hyphens, a letter first, not " +
                           quote(label)};
    if (std::binary_search(std::begin(reserved_labels), std::end(reserved_labels), label))
        return failure{errc::invalid_argument,
                       "domain must not begin with " + quote(label) + ", which is reserved"};
    return domain;
}

std::string_view parent_domain(std::string_view domain)
{
    const auto dot = domain.find('.');
    return dot == std::string_view::npos ? std::string_view() : domain.substr(dot + 1);
}

bool is_reserved(std::string_view local_part)
{
    return local_part.starts_with("ssl") ||
           std::binary_search(std::begin(reserved), std::end(reserved), local_part);
}

bool is_operators(std::string_view local_part)
{
    return local_part == "postmaster" || local_part == "abuse";
}

std::string make_local_part(const name_entropy& entropy)
{
    // 16 consonants and 4 vowels: 6 bits a syllable. Left out are c, f, g, q, u, x, which misspell
    // or offend.
    constexpr std::string_view consonants = "bdhjklmnprstvwyz";
    constexpr std::string_view vowels = "aeio";
    std::string name;
    for (std::size_t i = 0; i < 9; ++i) {
        if (i == 3 || i == 6)
            name += '-';
        name += consonants[entropy[i] & 15];
        name += vowels[entropy[i] >> 4 & 3];
    }
    const unsigned number = (static_cast<unsigned>(entropy[9]) << 8 | entropy[10]) % 100;
    name += '-';
    name += static_cast<char>('0' + number / 10);
    name += static_cast<char>('0' + number % 10);
    return name;
}

std::string make_random_local_part()
{
    name_entropy entropy{};
    const auto bytes = crypto::random_bytes(entropy.size());
    std::copy(bytes.begin(), bytes.end(), entropy.begin());
    return make_local_part(entropy);
}

} // namespace tempinbox::mailbox
