#include "webhook-dispatcher/endpoints/signature.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr std::string_view prefix = "whsec_";

} // namespace

secret make_signing_secret()
{
    return secret{std::string(prefix) + to_base64(crypto::random_bytes(24))};
}

result<secret> read_signing_secret(const secret& text)
{
    const std::string_view given = text.reveal();
    const auto bytes =
        given.starts_with(prefix) ? from_base64(given.substr(prefix.size())) : std::nullopt;
    if (!bytes || bytes->size() < 24 || bytes->size() > 64)
        return failure{errc::invalid_argument,
                       "a webhook secret must be whsec_ and 24 to 64 bytes in base64"};
    return secret{*bytes};
}

std::string sign(const std::vector<secret>& keys, std::string_view id, time_point timestamp,
                 std::string_view body)
{
    const auto seconds =
        std::chrono::floor<std::chrono::seconds>(timestamp).time_since_epoch().count();
    std::string content;
    content.reserve(id.size() + body.size() + 24);
    content.append(id).append(".").append(std::to_string(seconds)).append(".").append(body);

    std::string signatures;
    for (const auto& key : keys) {
        if (!signatures.empty())
            signatures += ' ';
        signatures += "v1," + to_base64(crypto::hmac_sha256(key.reveal(), content));
    }
    return signatures;
}

} // namespace tempinbox::webhooks
