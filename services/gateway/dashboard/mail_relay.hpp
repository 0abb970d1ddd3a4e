#pragma once

#include "common/mail/client.hpp"
#include "common/runtime/host.hpp"
#include "gateway/dashboard/account_email_settings.hpp"
#include "gateway/dashboard/outgoing_message.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace tempinbox::gateway {

// Sends the gateway's own messages through the operator's mail relay (libcurl's SMTP), one after
// the other on a thread of its own. A message is tried three times within a minute, with others
// sent in between; then it is dropped and logged, and its user has to ask again. A message that the
// relay refuses for good is dropped at once. The queue is bounded and in memory only: messages of a
// process that ends are lost. Without a relay nothing is sent. The relay's
// password and CA are read again when their files change.
class mail_relay
{
public:
    static constexpr std::size_t max_queued = 100;

    mail_relay(runtime::host& host, relay_settings settings);
    ~mail_relay();
    mail_relay(const mail_relay&) = delete;

    bool is_set() const { return settings_.is_set(); }
    const std::string& dashboard_url() const { return settings_.dashboard_url; }

    // Queues the message without waiting. False if the queue is full (logged), the relay is stopped
    // or not set, or the address cannot be mailed. `on_sent` is called on the relay's thread once
    // the relay has the message, and never for one that is dropped.
    bool enqueue(outgoing_message sent, std::function<void()> on_sent = {});
    // Drops the queued messages; the one being sent has two seconds more.
    void stop();

private:
    struct queued_message
    {
        outgoing_message sent;
        std::function<void()> on_sent;
        // RFC 5322 text, the same at every attempt, Message-ID included; empty before the first.
        std::string message;
        int attempts = 0;
    };
    void watch_files(runtime::file_watch& files);
    mail::server current_relay();
    void work();
    void deliver(queued_message next);
    void requeue(queued_message next);

    relay_settings settings_;
    prometheus::Counter& sent_;
    prometheus::Counter& failed_;
    std::mutex mutex_;
    mail::server relay_; // under the mutex: as the files say now
    std::condition_variable queue_changed_;
    std::multimap<std::chrono::steady_clock::time_point, queued_message>
        queue_; // by when they are due
    bool is_stopped_ = false;
    mail::abort_time abort_at_{std::chrono::steady_clock::time_point::max()};
    runtime::file_watch::subscription password_file_;
    runtime::file_watch::subscription ca_file_;
    std::thread thread_;
};

} // namespace tempinbox::gateway
