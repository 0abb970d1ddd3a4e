#include "accounts/api_key.hpp"

#include "common/credentials/checked_token.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::accounts {
namespace {

constexpr std::string_view scheme = "ti_live_";
constexpr std::size_t shown_characters = 4;

} // namespace

secret make_api_key()
{
    return credentials::make_checked_token(scheme);
}

bool is_well_formed_api_key(std::string_view text)
{
    return credentials::is_checked_token(text, scheme);
}

std::string api_key_digest(std::string_view key)
{
    return crypto::sha256(key);
}

std::string api_key_prefix(std::string_view key)
{
    return std::string(key.substr(0, scheme.size() + shown_characters));
}

} // namespace tempinbox::accounts
