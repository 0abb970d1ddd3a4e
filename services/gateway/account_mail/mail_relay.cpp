#include "gateway/account_mail/mail_relay.hpp"

#include "common/core/ids.hpp"
#include "common/log/log.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr int attempts = 3;
constexpr std::chrono::seconds pauses[] = {0s, 5s, 30s};
constexpr auto last_patience = 2s;
constexpr long connect_timeout_ms = 10'000;
constexpr long whole_timeout_ms = 30'000;

struct curl_deleter
{
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// What libcurl reads the message from.
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

// Asked by libcurl about once a second.
int is_given_up(void* given_up_at, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    const auto& when = *static_cast<const std::atomic<std::chrono::steady_clock::time_point>*>(given_up_at);
    return std::chrono::steady_clock::now() >= when.load() ? 1 : 0;
}

std::string url_of(const relay_settings& settings)
{
    // The path is the name for EHLO; the sender's domain is what the operator vouches for.
    return std::string(settings.tls == relay_settings::protection::tls ? "smtps://" : "smtp://") + settings.server + "/" +
           settings.from.substr(settings.from.rfind('@') + 1);
}

} // namespace

mail_relay::mail_relay(runtime::host& host, relay_settings settings)
    : settings_(std::move(settings)),
      sent_(host.metrics().counter("tempinbox_gateway_account_mail_total", "Letters for the mail relay", {{"outcome", "sent"}})),
      failed_(
          host.metrics().counter("tempinbox_gateway_account_mail_total", "Letters for the mail relay", {{"outcome", "failed"}}))
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

bool mail_relay::post(letter sent)
{
    if (!is_set() || !can_be_mailed(sent.to))
        return false;
    {
        const std::lock_guard lock(mutex_);
        if (is_stopped_ || waiting_.size() >= most_waiting)
            return false;
        waiting_.push_back(std::move(sent));
    }
    news_.notify_one();
    return true;
}

void mail_relay::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        given_up_at_ = std::chrono::steady_clock::now() + last_patience;
        waiting_.clear();
    }
    news_.notify_all();
    if (thread_.joinable())
        thread_.join();
}

void mail_relay::work()
{
    for (;;) {
        letter next;
        {
            std::unique_lock lock(mutex_);
            news_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
            if (is_stopped_)
                return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
        }
        deliver(next);
    }
}

void mail_relay::deliver(const letter& sent)
{
    const auto now = system_clock_source{}.now();
    const auto message = to_message(sent, settings_.from, uuid::make_v7().text(), now);
    std::string problem;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (!pause_before(attempt))
            return;
        problem = try_once(sent, message);
        if (problem.empty()) {
            sent_.Increment();
            return;
        }
    }
    failed_.Increment();
    log::warning("a letter could not be handed to the mail relay", {{"relay", settings_.server}, {"error", problem}});
}

// False when the process ends meanwhile.
bool mail_relay::pause_before(int attempt)
{
    std::unique_lock lock(mutex_);
    return !news_.wait_for(lock, pauses[attempt], [this] { return is_stopped_; });
}

std::string mail_relay::try_once(const letter& sent, const std::string& message) const
{
    const std::unique_ptr<CURL, curl_deleter> handle(curl_easy_init());
    const std::unique_ptr<curl_slist, curl_deleter> to(curl_slist_append(nullptr, ("<" + sent.to + ">").c_str()));
    if (!handle || !to)
        return "out of memory";
    auto* curl = handle.get();
    unread_bytes unread{message};
    char error[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl, CURLOPT_URL, url_of(settings_).c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, whole_timeout_ms);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_given_up);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &given_up_at_);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); // whatever the environment says
    curl_easy_setopt(curl, CURLOPT_USE_SSL,
                     static_cast<long>(settings_.tls == relay_settings::protection::none ? CURLUSESSL_NONE : CURLUSESSL_ALL));
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
        return {};
    return *error != '\0' ? std::string(error) : std::string(curl_easy_strerror(outcome));
}

} // namespace tempinbox::gateway
