#include "tempinboxctl/password_option.hpp"

#include "common/core/text.hpp"
#include "common/crypto/password.hpp"

namespace tempinbox::ctl {
namespace {

constexpr std::size_t min_password_length = 10;
constexpr std::size_t max_password_length = 200;

} // namespace

result<std::string> hash_password(const std::string& password, const std::string& option_name)
{
    const auto length = count_characters(password);
    if (length < min_password_length || length > max_password_length)
        return failure{errc::invalid_argument, "--" + option_name +
                                                   " must have 10 to 200 characters, not " +
                                                   std::to_string(length)};
    return crypto::hash_password(secret(password));
}

} // namespace tempinbox::ctl
