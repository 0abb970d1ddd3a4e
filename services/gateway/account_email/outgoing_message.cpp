#include "gateway/account_email/outgoing_message.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace tempinbox::gateway {
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

// The URL without its query, in ASCII and short enough for a line (RFC 5322 2.1.1).
std::string shown_url(std::string_view url)
{
    constexpr std::size_t max_length = 200;
    const auto without_query = url.substr(0, url.find_first_of("?#"));
    std::string shown(without_query.substr(0, max_length));
    std::replace_if(shown.begin(), shown.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return without_query.size() > max_length ? shown + "..." : shown;
}

bool is_plain(char c)
{
    // RFC 5322 3.2.3: atext and dots.
    constexpr std::string_view others = ".!#$%&'*+-/=?^_`{|}~";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
}

} // namespace

outgoing_message sign_up_code_message(std::string address, std::string_view code)
{
    return outgoing_message(std::move(address), "Your sign-up code",
                            "Your code for the Temporary Inbox Service is\n\n    " +
                                std::string(code) +
                                "\n\nIt is good for 15 minutes. If you did not ask for it, ignore "
                                "this message: no account is made.\n");
}

outgoing_message account_exists_message(std::string address, const std::string& dashboard_url)
{
    return outgoing_message(std::move(address), "You have an account already",
                            "Somebody, perhaps you, tried to sign up with this address, which has "
                            "an account already.\n\nSign in, or set a "
                            "new password, at\n\n    " +
                                dashboard_url + "\n\nIf it was not you, ignore this message.\n");
}

outgoing_message password_link_message(std::string address, const std::string& dashboard_url,
                                       const std::string& token)
{
    return outgoing_message(
        std::move(address), "Set a new password",
        "This link sets a new password, once, within an hour:\n\n    " + dashboard_url +
            "/reset-password#" + token +
            "\n\nIf you did not ask for it, ignore this message: your password stays as it is.\n");
}

outgoing_message webhook_disabled_message(std::string address, const std::string& dashboard_url,
                                          std::string_view webhook_url,
                                          const std::string& webhook_id, const std::string& reason)
{
    return outgoing_message(std::move(address), "A webhook of yours was switched off",
                            "Your webhook\n\n    " + shown_url(webhook_url) +
                                "\n\nwas switched off: " + reason +
                                ".\n\nNothing is sent to it now. What it would have got is kept "
                                "for replay. See what it answered, and switch it "
                                "on again, at\n\n    " +
                                dashboard_url + "/settings/webhooks/" + webhook_id + "\n");
}

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
           std::all_of(domain.begin(), domain.end(), [](char c) {
               return c == '.' || c == '-' || (is_plain(c) && std::isalnum(c));
           });
}

} // namespace tempinbox::gateway
