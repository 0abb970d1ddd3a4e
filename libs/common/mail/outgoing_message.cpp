#include "common/mail/outgoing_message.hpp"

#include "common/core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace tempinbox::mail {
namespace {

// A date (RFC 5322 3.3), in UTC.
std::string date_of(time_point now)
{
    constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds =
        std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[64];
    std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d +0000",
                  days[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                  months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                  utc.tm_min, utc.tm_sec);
    return text;
}

bool is_plain(char c)
{
    // RFC 5322 3.2.3: atext and dots.
    constexpr std::string_view others = ".!#$%&'*+-/=?^_`{|}~";
    return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
}

} // namespace

std::string to_rfc5322(const outgoing_message& sent, const std::string& from, std::string_view id,
                       time_point now)
{
    std::string message;
    message += "From: " + from + "\r\n";
    message += "To: " + sent.to + "\r\n";
    message += "Subject: " + sent.subject + "\r\n";
    message += "Date: " + date_of(now) + "\r\n";
    message += "Message-ID: <" + std::string(id) + from.substr(from.rfind('@')) + ">\r\n";
    message += "Auto-Submitted: auto-generated\r\n"; // RFC 3834: no auto-replies
    message += "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\n";
    for (const char c : sent.text) {
        if (c == '\n')
            message += '\r';
        message += c;
    }
    return message;
}

bool can_be_mailed(std::string_view address)
{
    const auto at = address.find('@');
    if (at == std::string_view::npos || at == 0 || at + 1 == address.size() || address.size() > 254)
        return false;
    const auto local = address.substr(0, at);
    const auto domain = address.substr(at + 1);
    return address.front() != '-' && std::all_of(local.begin(), local.end(), is_plain) &&
           std::all_of(domain.begin(), domain.end(),
                       [](char c) { return c == '.' || c == '-' || is_letter_or_digit(c); });
}

} // namespace tempinbox::mail
