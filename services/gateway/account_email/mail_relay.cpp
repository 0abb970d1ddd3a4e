#include "gateway/account_email/mail_relay.hpp"

#include "common/core/ids.hpp"
#include "common/log/log.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

using steady = std::chrono::steady_clock;

constexpr int max_attempts = 3;
constexpr std::chrono::seconds retry_delays[max_attempts] = {0s, 5s, 30s}; // before each attempt
constexpr auto stop_timeout = 2s;

mail::server server_of(const relay_settings& settings)
{
    mail::server relay;
    relay.address = settings.server;
    relay.tls = settings.tls;
    relay.ca_file = settings.ca_file;
    relay.user = settings.user;
    relay.password = settings.password;
    return relay;
}

} // namespace

mail_relay::mail_relay(runtime::host& host, relay_settings settings)
    : settings_(std::move(settings)),
      sent_(host.metrics().counter("tempinbox_gateway_account_emails_total",
                                   "Account emails for the mail relay", {{"outcome", "sent"}})),
      failed_(host.metrics().counter("tempinbox_gateway_account_emails_total",
                                     "Account emails for the mail relay", {{"outcome", "failed"}}))
{
    if (!is_set())
        return;
    thread_ = std::thread([this] { work(); });
}

mail_relay::~mail_relay()
{
    stop();
}

bool mail_relay::enqueue(outgoing_message sent, std::function<void()> on_sent)
{
    if (!is_set() || !can_be_mailed(sent.to))
        return false;
    {
        const std::lock_guard lock(mutex_);
        if (is_stopped_)
            return false;
        if (queue_.size() < max_queued) {
            queued_message last;
            last.sent = std::move(sent);
            last.on_sent = std::move(on_sent);
            queue_.emplace(steady::now(), std::move(last));
            queue_changed_.notify_one();
            return true;
        }
    }
    failed_.Increment();
    log::warning("account email dropped: the queue for the mail relay is full",
                 {{"relay", settings_.server}});
    return false;
}

void mail_relay::requeue(queued_message next)
{
    const std::lock_guard lock(mutex_);
    if (!is_stopped_)
        queue_.emplace(steady::now() + retry_delays[next.attempts], std::move(next));
}

void mail_relay::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        abort_at_ = std::chrono::steady_clock::now() + stop_timeout;
        queue_.clear();
    }
    queue_changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
}

void mail_relay::work()
{
    std::unique_lock lock(mutex_);
    while (!is_stopped_) {
        if (queue_.empty()) {
            queue_changed_.wait(lock);
            continue;
        }
        const auto due = queue_.begin()->first;
        if (due > steady::now()) {
            queue_changed_.wait_until(lock, due);
            continue;
        }
        auto next = std::move(queue_.extract(queue_.begin()).mapped());
        lock.unlock();
        deliver(std::move(next));
        lock.lock();
    }
}

void mail_relay::deliver(queued_message next)
{
    if (next.message.empty())
        next.message = mail::to_rfc5322(next.sent, settings_.from, uuid::make_v7().text(),
                                        system_clock_source{}.now());
    const auto refused =
        mail::send(server_of(settings_), settings_.from, next.sent.to, next.message, &abort_at_);
    ++next.attempts;
    if (!refused) {
        sent_.Increment();
        if (next.on_sent)
            next.on_sent();
        return;
    }
    if (!refused->is_final && next.attempts < max_attempts) {
        requeue(std::move(next));
        return;
    }
    failed_.Increment();
    log::warning("account email not sent to the mail relay",
                 {{"relay", settings_.server}, {"error", refused->reason}});
}

} // namespace tempinbox::gateway
