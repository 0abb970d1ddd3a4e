#include "webhook-dispatcher/api/secret_rpc.hpp"

#include "common/core/text.hpp"
#include "common/log/log.hpp"
#include "common/rpc/webhook_methods.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr int max_batch_size = 1'000;

std::string make_position(const secret_position& position)
{
    return position.account.text() + " " + position.webhook.text() + " " +
           position.replaced_by.text();
}

result<secret_position> read_position(const std::string& text)
{
    secret_position position;
    if (text.empty())
        return position;
    const auto parts = split_list(text, ' ');
    if (parts.size() != 3)
        return failure{errc::invalid_argument,
                       "position must be one that an answer gave, not " + quote(text)};
    const auto account = account_id::parse(parts[0]);
    if (!account)
        return account.error();
    const auto webhook = webhook_id::parse(parts[1]);
    if (!webhook)
        return webhook.error();
    const auto rotation = uuid::parse(parts[2]);
    if (!rotation)
        return bad_id("rotationId", parts[2]);
    position.account = *account;
    position.webhook = *webhook;
    position.replaced_by = *rotation;
    return position;
}

failure other_key(const std::string& own, const std::string& requested)
{
    return failure{errc::conflict,
                   "a replica of the webhook dispatcher seals with the master key " + quote(own) +
                       ", another one with " + quote(requested) +
                       "; wait until all have read the same master-key-file"};
}

std::vector<resealed_secret> seal_anew(const std::vector<sealed_secret>& found,
                                       const crypto::keyring& keys)
{
    std::vector<resealed_secret> anew;
    for (const auto& entry : found) {
        const auto context = entry.position.webhook.text();
        const auto plain = keys.open(entry.sealed, context);
        if (!plain) {
            log::error("webhook secret cannot be resealed",
                       {{"webhook_id", context}, {"reason", plain.error().message}});
            continue;
        }
        resealed_secret resealed;
        resealed.before = entry;
        resealed.sealed = keys.seal(*plain, context);
        anew.push_back(std::move(resealed));
    }
    return anew;
}

} // namespace

void secret_rpc::add_to(rpc::server& server)
{
    server.add(webhook_methods::count_secrets, *this, &secret_rpc::count);
    server.add(webhook_methods::reseal_secrets, *this, &secret_rpc::reseal);
}

awaitable<result<v1::CountSecretsResponse>> secret_rpc::count(v1::CountSecretsRequest)
{
    const auto counts = co_await endpoints_.count_secrets();
    v1::CountSecretsResponse response;
    response.set_current_key_id(keys_.current_key());
    for (const auto& entry : counts) {
        auto& key = *response.add_keys();
        key.set_key_id(entry.key_id);
        key.set_secrets(entry.secrets);
    }
    co_return response;
}

awaitable<result<v1::ResealSecretsResponse>> secret_rpc::reseal(v1::ResealSecretsRequest request)
{
    if (request.key_id() != keys_.current_key())
        co_return other_key(keys_.current_key(), request.key_id());
    if (request.limit() < 1 || request.limit() > max_batch_size)
        co_return failure{errc::invalid_argument,
                          "limit must be an integer from 1 to " + std::to_string(max_batch_size)};
    const auto after = read_position(request.position());
    if (!after)
        co_return after.error();

    const auto found =
        co_await endpoints_.find_sealed_otherwise(request.key_id(), *after, request.limit());
    // The file may have changed meanwhile.
    if (request.key_id() != keys_.current_key())
        co_return other_key(keys_.current_key(), request.key_id());
    auto anew = seal_anew(found, keys_);
    v1::ResealSecretsResponse response;
    response.set_unopened(static_cast<int>(found.size() - anew.size()));
    if (static_cast<int>(found.size()) == request.limit())
        response.set_next_position(make_position(found.back().position));
    const int resealed = co_await endpoints_.reseal(std::move(anew));
    response.set_resealed(resealed);
    co_return response;
}

} // namespace tempinbox::webhooks
