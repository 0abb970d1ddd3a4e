#include "mail-ingest/smtp/auth_exchange.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "mail-ingest/smtp/replies.hpp"

namespace tempinbox::smtp {

std::optional<auth_exchange> auth_exchange::begin(std::string_view mechanism)
{
    if (equals_ignoring_ascii_case(mechanism, "PLAIN"))
        return auth_exchange(phase::plain);
    if (equals_ignoring_ascii_case(mechanism, "LOGIN"))
        return auth_exchange(phase::user);
    return std::nullopt;
}

auth_exchange::status auth_exchange::start(std::optional<std::string_view> response)
{
    return response ? take(*response) : status::challenge;
}

auth_exchange::status auth_exchange::resume(std::string_view line)
{
    // RFC 4954 4
    return line == "*" ? status::cancelled : take(line);
}

std::string_view auth_exchange::challenge() const
{
    switch (phase_) {
    case phase::plain:
        break;
    case phase::user:
        return replies::ask_user;
    case phase::password:
        return replies::ask_password;
    }
    return replies::ask_credentials;
}

auth_exchange::status auth_exchange::take(std::string_view encoded)
{
    auto decoded = from_base64(encoded);
    if (!decoded)
        return status::malformed;
    auto outcome = status::malformed;
    if (decoded->empty() || !is_valid_utf8(*decoded)) {
        outcome = status::malformed;
    } else if (phase_ == phase::plain) {
        outcome = take_plain(*decoded);
    } else if (decoded->find('\0') == std::string::npos) {
        const bool is_user = phase_ == phase::user;
        (is_user ? given_.user : given_.password) = *decoded;
        phase_ = phase::password;
        outcome = is_user ? status::challenge : status::complete;
    }
    wipe(*decoded);
    return outcome;
}

// RFC 4616 2: [authzid] NUL authcid NUL passwd
auth_exchange::status auth_exchange::take_plain(std::string_view decoded)
{
    const auto first = decoded.find('\0');
    const auto second = first == std::string_view::npos ? first : decoded.find('\0', first + 1);
    if (second == std::string_view::npos ||
        decoded.find('\0', second + 1) != std::string_view::npos)
        return status::malformed;
    given_.acts_as = decoded.substr(0, first);
    given_.user = decoded.substr(first + 1, second - first - 1);
    given_.password = decoded.substr(second + 1);
    return status::complete;
}

} // namespace tempinbox::smtp
