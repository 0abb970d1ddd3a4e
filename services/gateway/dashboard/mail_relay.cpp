#include "gateway/dashboard/mail_relay.hpp"

#include "common/core/ids.hpp"
#include "common/log/log.hpp"
#include "common/tls/expiry.hpp"

#include <stdexcept>

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

// Read as a whole, so that a file that is lost later changes nothing.
std::string read_authorities(const std::string& file)
{
    if (const auto expiry = tls::find_expiry(file); !expiry)
        throw std::runtime_error(expiry.error().message);
    return runtime::read_small_file(file);
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
    relay_ = server_of(settings_);
    watch_files(host.files());
    thread_ = std::thread([this] { work(); });
}

mail_relay::~mail_relay()
{
    stop();
}

void mail_relay::watch_files(runtime::file_watch& files)
{
    const auto& password = settings_.password_file;
    if (!password.empty())
        password_file_ =
            files.watch("mail-relay-password-file", {password}, [this, file = password] {
                auto changed = read_relay_password(file);
                const std::lock_guard lock(mutex_);
                relay_.password = std::move(changed);
            });
    const auto& authorities = settings_.ca_file;
    if (!authorities.empty())
        ca_file_ = files.watch("mail-relay-ca-file", {authorities}, [this, file = authorities] {
            auto changed = read_authorities(file);
            const std::lock_guard lock(mutex_);
            relay_.ca_pem = std::move(changed);
        });
}

mail::server mail_relay::current_relay()
{
    const std::lock_guard lock(mutex_);
    return relay_;
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
    if (next.message.empty()) {
        const auto id = next.sent.id.empty() ? uuid::make_v7().text() : next.sent.id;
        next.message = mail::to_rfc5322(next.sent, settings_.from, id, system_clock_source{}.now());
    }
    const auto refused =
        mail::send(current_relay(), settings_.from, next.sent.to, next.message, &abort_at_);
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
