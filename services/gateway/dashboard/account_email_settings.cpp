#include "gateway/dashboard/account_email_settings.hpp"

#include "common/core/text.hpp"
#include "common/runtime/file_watch.hpp"
#include "common/tls/expiry.hpp"
#include "gateway/dashboard/outgoing_message.hpp"

#include <stdexcept>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_password_file_bytes = 4'096;

relay_settings::protection to_protection(const std::string& text)
{
    if (text == "none")
        return relay_settings::protection::none;
    return text == "tls" ? relay_settings::protection::tls : relay_settings::protection::starttls;
}

// The password; of the authorities only whether there are any, since the relay reads them.
void read_files(config::reader& reader, relay_settings& relay)
{
    if (!relay.ca_file.empty())
        if (const auto expiry = tls::find_expiry(relay.ca_file); !expiry)
            reader.add_problem("mail-relay-ca-file", expiry.error().message);
    if (relay.password_file.empty())
        return;
    try {
        relay.password = read_relay_password(relay.password_file);
    } catch (const std::exception& error) {
        // All problems with the settings are listed at once.
        reader.add_problem("mail-relay-password-file", error.what());
    }
}

} // namespace

secret read_relay_password(const std::string& file)
{
    const auto content = runtime::read_small_file(file, max_password_file_bytes);
    auto line = trim(std::string_view(content).substr(0, content.find('\n')));
    if (line.empty())
        throw std::runtime_error(file + " has no password in its first line");
    return secret(std::string(line));
}

relay_settings read_relay_settings(config::reader& reader)
{
    relay_settings relay;
    relay.server = reader.text("mail-relay", "",
                               "Mail relay (host:port) for sign-up codes, password links, and "
                               "notices of disabled webhooks and of ends of inboxes; empty: no "
                               "such email is sent");
    relay.tls = to_protection(reader.choice(
        "mail-relay-tls", "starttls", {"none", "starttls", "tls"},
        "Encryption of the connection to the relay; `none` only on a network of your own"));
    const auto problems_before = reader.problems().size();
    relay.ca_file = reader.readable_file(
        "mail-relay-ca-file", "",
        "Certificate authorities (PEM) for the relay, read again when the file "
        "changes; empty: the system's");
    relay.from = reader.text("mail-relay-from", "", "Sender address of the emails to the relay");
    relay.user = reader.text("mail-relay-user", "",
                             "User name for the relay, if it requires authentication");
    relay.password_file =
        reader.readable_file("mail-relay-password-file", "",
                             "Password for the relay: the first line of the file, read again when "
                             "it changes");
    const bool are_readable = reader.problems().size() == problems_before;
    relay.dashboard_url =
        reader.text("dashboard-url", "", "Public URL of the dashboard, for links in email");
    while (relay.dashboard_url.ends_with('/'))
        relay.dashboard_url.pop_back();

    if (!relay.is_set())
        return relay;
    if (!host_port::parse(relay.server))
        reader.add_problem("mail-relay", "must be host:port");
    if (!can_be_mailed(relay.from))
        reader.add_problem(
            "mail-relay-from",
            "must be an address such as noreply@example.com where mail-relay is set");
    if (!relay.dashboard_url.starts_with("https://") && !relay.dashboard_url.starts_with("http://"))
        reader.add_problem(
            "dashboard-url",
            "must be an address such as https://mail.example/dashboard where mail-relay is set");
    if (are_readable)
        read_files(reader, relay);
    return relay;
}

} // namespace tempinbox::gateway
