#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/secret.hpp"
#include "common/http/server.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// Whether a webhook is signed with the secret `whsec_…` (Standard Webhooks, "Signature scheme").
bool is_signed(const http::header_list& headers, std::string_view body, const secret& signing);

// A webhook endpoint that takes what comes, and knows the event that is waited for. Throws if the
// address cannot be bound.
class smoke_receiver
{
public:
    smoke_receiver(runtime::host& host, const host_port& listen);
    ~smoke_receiver();
    smoke_receiver(const smoke_receiver&) = delete;

    void set_secret(secret signing) { signing_ = std::move(signing); }
    // Called with each request whose signature is good, before it is answered.
    void on_event(std::function<void(const http::request&)> handle) { handle_ = std::move(handle); }
    // Whether the event came in time, with a good signature.
    awaitable<bool> await_event(std::string event_id, std::chrono::milliseconds timeout);

private:
    awaitable<http::response> take(http::request& request);

    http::server server_;
    async::reset_event arrived_;
    secret signing_;
    std::function<void(const http::request&)> handle_;
    std::vector<std::string> events_; // ids of those whose signatures are good
};

} // namespace tempinbox::ctl
