#include "common/mail/client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tempinbox::mail {
namespace {

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
    const auto* when = static_cast<const abort_time*>(abort_at);
    return when && std::chrono::steady_clock::now() >= when->load() ? 1 : 0;
}

std::string url_of(const server& receiver, const std::string& from)
{
    // The path is the name for EHLO: the sender's domain, which the operator vouches for.
    return std::string(receiver.tls == server::protection::tls ? "smtps://" : "smtp://") +
           receiver.address + "/" + from.substr(from.rfind('@') + 1);
}

void set_connection(CURL* curl, const server& receiver)
{
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(receiver.connect_timeout.count()));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(receiver.timeout.count()));
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); // ignore the environment's
    curl_easy_setopt(curl, CURLOPT_USE_SSL,
                     static_cast<long>(receiver.tls == server::protection::none ? CURLUSESSL_NONE
                                                                                : CURLUSESSL_ALL));
    if (!receiver.ca_pem.empty()) {
        // Copied by libcurl.
        curl_blob trusted{const_cast<char*>(receiver.ca_pem.data()), receiver.ca_pem.size(),
                          CURL_BLOB_COPY};
        curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &trusted);
    } else if (!receiver.ca_file.empty())
        curl_easy_setopt(curl, CURLOPT_CAINFO, receiver.ca_file.c_str());
    if (!receiver.user.empty()) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, receiver.user.c_str());
        curl_easy_setopt(curl, CURLOPT_PASSWORD, receiver.password.reveal().c_str());
    }
}

std::unique_ptr<CURL, curl_deleter> make_handle()
{
    // Counted by libcurl; made once, since it is not for several threads at a time.
    [[maybe_unused]] static const auto initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    return std::unique_ptr<CURL, curl_deleter>(curl_easy_init());
}

std::string text_of(CURLcode outcome, const char* error)
{
    return *error != '\0' ? std::string(error) : std::string(curl_easy_strerror(outcome));
}

} // namespace

std::optional<refusal> send(const server& receiver, const std::string& from, const std::string& to,
                            std::string_view message, const abort_time* abort_at)
{
    refusal refused;
    const auto handle = make_handle();
    const std::unique_ptr<curl_slist, curl_deleter> recipients(
        curl_slist_append(nullptr, ("<" + to + ">").c_str()));
    if (!handle || !recipients) {
        refused.reason = "out of memory";
        return refused;
    }
    auto* curl = handle.get();
    unread_bytes unread{message};
    char error[CURL_ERROR_SIZE] = "";
    set_connection(curl, receiver);
    curl_easy_setopt(curl, CURLOPT_URL, url_of(receiver, from).c_str());
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, should_abort);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, abort_at);
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, ("<" + from + ">").c_str());
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients.get());
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
    refused.reason = text_of(outcome, error);
    return refused;
}

std::optional<std::string> check_connection(const server& receiver)
{
    const auto handle = make_handle();
    if (!handle)
        return "out of memory";
    auto* curl = handle.get();
    char error[CURL_ERROR_SIZE] = "";
    set_connection(curl, receiver);
    curl_easy_setopt(curl, CURLOPT_URL, url_of(receiver, "localhost").c_str());
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "NOOP");
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    const auto outcome = curl_easy_perform(curl);
    if (outcome == CURLE_OK)
        return std::nullopt;
    return text_of(outcome, error);
}

} // namespace tempinbox::mail
