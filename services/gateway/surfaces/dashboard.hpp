#pragma once

#include "accounts/key_repository.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/message.hpp"
#include "gateway/access/password_hasher.hpp"
#include "gateway/access/session_day.hpp"
#include "gateway/access/session_lookups.hpp"
#include "gateway/core.hpp"
#include "gateway/dashboard/account_notices.hpp"
#include "gateway/dashboard/attempt_gate.hpp"
#include "gateway/dashboard/email_verification_handlers.hpp"
#include "gateway/dashboard/event_stream.hpp"
#include "gateway/dashboard/mail_relay.hpp"
#include "gateway/dashboard/password_handlers.hpp"
#include "gateway/dashboard/pipeline.hpp"
#include "gateway/dashboard/sign_in_handlers.hpp"
#include "gateway/site/dashboard_assets.hpp"

#include <chrono>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// The dashboard, everything under /dashboard: its page, its API, sessions, and the email that goes
// to accounts.
class dashboard
{
public:
    // `shared` outlives this.
    dashboard(runtime::host& host, const settings& chosen, core& shared);
    dashboard(const dashboard&) = delete;

    void start();
    // Ends event streams, so that their requests can finish.
    void interrupt() { event_stream_.interrupt(); }
    // Once the requests have ended.
    awaitable<void> stop();

    static bool serves(std::string_view path);
    refusal judge_header(http::request& received) const;
    awaitable<http::response> handle(http::request& received);
    void take_events(const std::vector<kafka::record>& batch) { event_stream_.take_events(batch); }

private:
    awaitable<http::response> handle_asset(http::request& received);
    awaitable<bool> is_open(std::string session_digest);
    awaitable<std::chrono::microseconds> purge();

    accounts::account_repository& accounts_;
    accounts::key_repository keys_;
    accounts::sign_in_repository sign_in_;
    session_lookups session_lookups_;
    session_day session_day_;
    event_stream event_stream_;
    attempt_gate gate_;
    // Purges ended sessions, old attempts, and the rest of deleted accounts.
    async::periodic_task purge_task_;
    password_hasher hasher_;
    session_issuer session_issuer_;
    sign_in_handlers sign_ins_;
    password_handlers passwords_;
    mail_relay relay_;
    account_notices webhook_notices_;
    account_notices inbox_notices_;
    email_verification_handlers email_verification_;
    dashboard_pipeline pipeline_;
    dashboard_assets assets_;
};

} // namespace tempinbox::gateway
