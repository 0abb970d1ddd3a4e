#include "inbox/reading/trace_headers.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace tempinbox::inbox {
namespace {

// A sender's text must not begin a new line.
std::string one_line(std::string text)
{
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return text;
}

bool is_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// RFC 5322 3.3, independent of the locale.
std::string date_time(time_point moment)
{
    constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds =
        std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 16> clock{};
    std::strftime(clock.data(), clock.size(), "%H:%M:%S", &parts);
    return std::string(days.at(static_cast<std::size_t>(parts.tm_wday))) + ", " +
           std::to_string(parts.tm_mday) + " " + months.at(static_cast<std::size_t>(parts.tm_mon)) +
           " " + std::to_string(1900 + parts.tm_year) + " " + clock.data() + " +0000";
}

// RFC 3848 and RFC 6531 3.7.3: addresses outside ASCII came by SMTPUTF8, `S` is TLS, `A` a login.
std::string protocol_of(const mailbox::stored_email& email)
{
    const auto& recipients = email.summary.rcpt_to;
    const bool is_plain =
        is_ascii(email.mail_from) && std::all_of(recipients.begin(), recipients.end(), is_ascii);
    return std::string(is_plain ? "ESMTP" : "UTF8SMTP") + (email.tls ? "S" : "") +
           (email.login ? "A" : "");
}

// RFC 5321 4.1.3.
std::string address_literal(const std::string& address)
{
    return (address.find(':') == std::string::npos ? "[" : "[IPv6:") + address + "]";
}

} // namespace

std::string trace_headers(const mailbox::stored_email& email)
{
    const auto host = email.inbox_address.substr(email.inbox_address.find('@') + 1);
    std::string trace = "Return-Path: <" + one_line(email.mail_from) + ">\r\n";
    trace += "Received: from " + one_line(email.helo) + " (" +
             address_literal(email.remote_address) + ")\r\n";
    trace += "\tby " + host + " with " + protocol_of(email) + " id " + email.summary.id.text();
    // RFC 5321 7.2: the recipient is named only if it is the only one.
    if (email.summary.rcpt_to.size() == 1 && !email.is_to_several_inboxes)
        trace += "\r\n\tfor <" + one_line(email.summary.rcpt_to.front()) + ">";
    trace += "; " + date_time(email.summary.received_at) + "\r\n";
    return trace;
}

} // namespace tempinbox::inbox
