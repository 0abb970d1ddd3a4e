#include "common/credentials/capture_login.hpp"

#include "common/credentials/checked_token.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::credentials {
namespace {

constexpr std::string_view user_prefix = "cap_";
constexpr std::size_t user_characters = 12;
constexpr std::string_view user_alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view password_prefix = "tic_";

} // namespace

std::string make_capture_user()
{
    return std::string(user_prefix) + random_text(user_characters, user_alphabet);
}

bool is_capture_user(std::string_view text)
{
    return text.size() == user_prefix.size() + user_characters && text.starts_with(user_prefix) &&
           text.substr(user_prefix.size()).find_first_not_of(user_alphabet) ==
               std::string_view::npos;
}

secret make_capture_password()
{
    return make_checked_token(password_prefix);
}

bool is_capture_password(std::string_view text)
{
    return is_checked_token(text, password_prefix);
}

std::string capture_password_digest(std::string_view password)
{
    return crypto::sha256(password);
}

} // namespace tempinbox::credentials
