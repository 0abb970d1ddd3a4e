#pragma once

#include "common/core/secret.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::mail {

// A mail server, and how it is reached.
struct server
{
    enum class protection { none, starttls, tls };

    std::string address; // host:port
    protection tls = protection::starttls;
    std::string ca_file; // empty: the system's
    std::string ca_pem;  // trusted instead, where it is not empty
    std::string user;    // empty: no sign-in
    secret password;
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds timeout{30'000}; // of the whole transaction
};

struct refusal
{
    std::string reason;
    bool is_final = false; // of this message, not of the server (RFC 5321 4.2.1: 5yz)
};

// When a blocking call gives up before its timeout; set from any thread.
using abort_time = std::atomic<std::chrono::steady_clock::time_point>;

// One SMTP transaction by libcurl: `message` is RFC 5322 text with CRLF lines, `from` and `to` are
// addresses that can_be_mailed(). EHLO says the domain of `from`. Blocks; looks at `abort_at`, if
// given, about once a second. Absent: the server has the message.
std::optional<refusal> send(const server& receiver, const std::string& from, const std::string& to,
                            std::string_view message, const abort_time* abort_at = nullptr);

// Connects as `send` does, says NOOP and leaves. Absent: the server answered, and its certificate
// is of this name and of an authority that is trusted. Else what is wrong, in libcurl's words.
// Blocks.
std::optional<std::string> check_connection(const server& receiver);

} // namespace tempinbox::mail
