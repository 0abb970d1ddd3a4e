#include "gateway/dashboard/outgoing_message.hpp"

#include "common/rpc/timestamp.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

// In ASCII and short enough for a line (RFC 5322 2.1.1).
std::string shown(std::string_view text)
{
    constexpr std::size_t max_length = 200;
    std::string printable(text.substr(0, max_length));
    std::replace_if(
        printable.begin(), printable.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return text.size() > max_length ? printable + "..." : printable;
}

// Without its query.
std::string shown_url(std::string_view url)
{
    return shown(url.substr(0, url.find_first_of("?#")));
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

outgoing_message inbox_ends_message(std::string address, const std::string& dashboard_url,
                                    const inbox::v1::EndNotice& notice)
{
    const std::string time = notice.days() == 1 ? "a day" : std::to_string(notice.days()) + " days";
    const std::string login =
        notice.has_login() ? ", and what your application sends with its login is refused" : "";
    outgoing_message sent(std::move(address), "An inbox of yours ends within " + time,
                          "Your inbox\n\n    " + shown(notice.email_address()) + "\n\nends at " +
                              to_iso8601(rpc::to_time(notice.expires_at())) +
                              ". Its mail is deleted then" + login +
                              ".\n\nTo keep it, give it a later end, at\n\n    " + dashboard_url +
                              "/inboxes/" + notice.inbox_id() + "\n");
    sent.id = notice.notice_id();
    return sent;
}

} // namespace tempinbox::gateway
