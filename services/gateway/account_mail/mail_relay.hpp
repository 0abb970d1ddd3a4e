#pragma once

#include "common/runtime/host.hpp"
#include "gateway/account_mail/letter.hpp"
#include "gateway/account_mail/settings.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace tempinbox::gateway {

// Hands letters to the operator's mail relay (libcurl's SMTP) on a thread of its own, one after the other. A letter is tried
// three times within a minute, then dropped and logged: whoever waits for it asks again. Bounded; letters of a process that ends
// are lost. Without a relay nothing is sent.
class mail_relay
{
public:
    static constexpr std::size_t most_waiting = 100;

    mail_relay(runtime::host& host, relay_settings settings);
    ~mail_relay();
    mail_relay(const mail_relay&) = delete;

    bool is_set() const { return settings_.is_set(); }
    const std::string& dashboard_url() const { return settings_.dashboard_url; }

    // Takes it for sending, without waiting. False where there is no room or the address cannot be mailed.
    bool post(letter sent);
    // Drops what waits; a letter under way has two seconds more.
    void stop();

private:
    void work();
    void deliver(const letter& sent);
    // What went wrong; empty: the relay has it.
    std::string try_once(const letter& sent, const std::string& message) const;
    bool pause_before(int attempt);

    relay_settings settings_;
    prometheus::Counter& sent_;
    prometheus::Counter& failed_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<letter> waiting_;
    bool is_stopped_ = false;
    std::atomic<std::chrono::steady_clock::time_point> given_up_at_{std::chrono::steady_clock::time_point::max()};
    std::thread thread_;
};

} // namespace tempinbox::gateway
