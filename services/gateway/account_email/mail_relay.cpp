#include "gateway/account_email/mail_relay.hpp"

#include "common/core/ids.hpp"
#include "common/log/log.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

using steady = std::chrono::steady_clock;

constexpr int max_attempts = 3;
constexpr std::chrono::seconds retry_delays[max_attempts] = {0s, 5s, 30s}; // before each attempt
constexpr auto stop_timeout = 2s;
constexpr long connect_timeout_ms = 10'000;
constexpr long whole_timeout_ms = 30'000;

struct curl_deleter
{
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// The rest of the message, which libcurl reads.
struct unread_bytes
{
    std::string_view left;

    static std::size_t read(char* into, std::size_t size, std::size_t count, void* self)
    {
        auto& left = static_cast<unread_bytes*>(self)->left;
        const auto bytes = std::min(left.size(), size * count);
        std::memcpy(into, left.data(), bytes);
        left.remove_prefix(bytes);
        return bytes;
    }
};

// Called by libcurl about once a second.
int should_abort(void* abort_at, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    const auto& when =
        *static_cast<const std::atomic<std::chrono::steady_clock::time_point>*>(abort_at);
    return std::chrono::steady_clock::now() >= when.load() ? 1 : 0;
}

std::string url_of(const relay_settings& settings)
{
    // The path is the name for EHLO: the sender's domain, which the operator vouches for.
    return std::string(settings.tls == relay_settings::protection::tls ? "smtps://" : "smtp://") +
           settings.server + "/" + settings.from.substr(settings.from.rfind('@') + 1);
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
    curl_global_init(CURL_GLOBAL_DEFAULT);
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
        next.message = to_rfc5322(next.sent, settings_.from, uuid::make_v7().text(),
                                  system_clock_source{}.now());
    const auto refused = try_once(next);
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

std::optional<mail_relay::refusal> mail_relay::try_once(const queued_message& next) const
{
    refusal refused;
    const std::unique_ptr<CURL, curl_deleter> handle(curl_easy_init());
    const std::unique_ptr<curl_slist, curl_deleter> to(
        curl_slist_append(nullptr, ("<" + next.sent.to + ">").c_str()));
    if (!handle || !to) {
        refused.reason = "out of memory";
        return refused;
    }
    auto* curl = handle.get();
    unread_bytes unread{next.message};
    char error[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl, CURLOPT_URL, url_of(settings_).c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, whole_timeout_ms);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, should_abort);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &abort_at_);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); // ignore the environment's
    curl_easy_setopt(curl, CURLOPT_USE_SSL,
                     static_cast<long>(settings_.tls == relay_settings::protection::none
                                           ? CURLUSESSL_NONE
                                           : CURLUSESSL_ALL));
    if (!settings_.ca_file.empty())
        curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca_file.c_str());
    if (!settings_.user.empty()) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, settings_.user.c_str());
        curl_easy_setopt(curl, CURLOPT_PASSWORD, settings_.password.reveal().c_str());
    }
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, ("<" + settings_.from + ">").c_str());
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, to.get());
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, &unread_bytes::read);
    curl_easy_setopt(curl, CURLOPT_READDATA, &unread);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    const auto outcome = curl_easy_perform(curl);
    if (outcome == CURLE_OK)
        return std::nullopt;
    long reply = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply);
    // RFC 5321 4.2.1: 5yz is final. A refused login does not concern the message.
    refused.is_final = reply >= 500 && outcome != CURLE_LOGIN_DENIED;
    refused.reason = *error != '\0' ? std::string(error) : std::string(curl_easy_strerror(outcome));
    return refused;
}

} // namespace tempinbox::gateway
