#include "cli/webhook.hpp"

#include "cli/api_client.hpp"
#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "common/json/writer.hpp"

namespace tempinbox::cli {
namespace {

constexpr std::string_view secret_prefix = "whsec_";
constexpr std::size_t min_secret_bytes = 24;
constexpr std::size_t max_secret_bytes = 64;

} // namespace

std::string webhook_payload(const json::value& email)
{
    json::writer out;
    out.begin_object();
    out.member("event", "email.received");
    out.member("timestamp", text_of(email, "receivedAt"));
    out.key("data").begin_object();
    for (const char* const field : {"emailId", "inboxId", "from", "subject"})
        out.member(field, text_of(email, field));
    out.end_object().end_object();
    return out.take();
}

result<secret> read_webhook_secret(const std::string& text)
{
    const std::string_view given = text;
    const auto bytes = given.starts_with(secret_prefix)
                           ? from_base64(given.substr(secret_prefix.size()))
                           : std::nullopt;
    if (!bytes || bytes->size() < min_secret_bytes || bytes->size() > max_secret_bytes)
        return failure{errc::invalid_argument,
                       "--secret must be a webhook's secret: whsec_ and 24 to 64 bytes in base64"};
    return secret(*bytes);
}

http::header_list webhook_headers(const std::string& email_id, std::int64_t unix_seconds,
                                  const std::string& body, const secret& key, unsigned attempt)
{
    const auto timestamp = std::to_string(unix_seconds);
    http::header_list headers{{"Content-Type", "application/json"},
                              {"User-Agent", "tempinbox-cli/" TEMPINBOX_VERSION},
                              {"webhook-id", email_id},
                              {"webhook-timestamp", timestamp}};
    if (!key.empty()) {
        // Standard Webhooks, "Signature scheme".
        const auto signature =
            crypto::hmac_sha256(key.reveal(), email_id + "." + timestamp + "." + body);
        headers.emplace_back("webhook-signature", "v1," + to_base64(signature));
    }
    headers.emplace_back("webhook-attempt", std::to_string(attempt));
    return headers;
}

} // namespace tempinbox::cli
