#include "tempinboxctl/smoke_receiver.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

http::server_settings listening_at(const host_port& listen)
{
    http::server_settings chosen;
    chosen.listen = listen;
    chosen.body_limit = 1024 * 1024;
    chosen.name = "smoke";
    return chosen;
}

} // namespace

bool is_signed(const http::header_list& headers, std::string_view body, const secret& signing)
{
    constexpr std::string_view secret_prefix = "whsec_";
    constexpr std::string_view version = "v1,";
    const auto id = http::find_header(headers, "webhook-id");
    const auto timestamp = http::find_header(headers, "webhook-timestamp");
    const auto signatures = http::find_header(headers, "webhook-signature");
    if (!id || !timestamp || !signatures || !signing.reveal().starts_with(secret_prefix))
        return false;
    const auto key = from_base64(std::string_view(signing.reveal()).substr(secret_prefix.size()));
    if (!key)
        return false;
    std::string content;
    content.append(*id).append(".").append(*timestamp).append(".").append(body);
    const auto expected = std::string(version) + to_base64(crypto::hmac_sha256(*key, content));

    // While a secret is rotated there are two, separated by a space.
    for (auto left = *signatures; !left.empty();) {
        const auto one = left.substr(0, left.find(' '));
        if (crypto::equal_constant_time(one, expected))
            return true;
        left.remove_prefix(std::min(left.size(), one.size() + 1));
    }
    return false;
}

smoke_receiver::smoke_receiver(runtime::host& host, const host_port& listen)
    : server_(host, listening_at(listen), [this](http::request& request) { return take(request); }),
      arrived_(host.executor(), async::reset_event::mode::automatic)
{
    server_.start();
}

smoke_receiver::~smoke_receiver()
{
    server_.stop();
}

awaitable<bool> smoke_receiver::await_event(std::string event_id, std::chrono::milliseconds timeout)
{
    const auto until = async::deadline::after(timeout);
    while (std::find(events_.begin(), events_.end(), event_id) == events_.end())
        if (!co_await arrived_.wait_until(until))
            co_return false;
    co_return true;
}

awaitable<http::response> smoke_receiver::take(http::request& request)
{
    const bool is_good = is_signed(request.headers, request.body, signing_);
    if (is_good) {
        events_.emplace_back(*request.header("webhook-id"));
        arrived_.set();
        if (handle_)
            handle_(request);
    }
    http::response answered;
    answered.status = is_good ? 204 : 401;
    co_return answered;
}

} // namespace tempinbox::ctl
