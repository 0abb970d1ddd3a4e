#include "gateway/json/resources.hpp"

#include "common/http/message.hpp"
#include "gateway/json/fields.hpp"

#include <map>

namespace tempinbox::gateway {
namespace {

void put_metadata(json::writer& out,
                  const google::protobuf::Map<std::string, std::string>& metadata)
{
    // Protobuf's map has no fixed order, but a response should not change from call to call.
    const std::map<std::string, std::string> sorted(metadata.begin(), metadata.end());
    out.key("metadata").begin_object();
    for (const auto& [name, text] : sorted)
        out.member(name, text);
    out.end_object();
}

void put_ports(json::writer& out, std::string_view name, const std::vector<std::uint16_t>& ports)
{
    out.key(name).begin_array();
    for (const auto port : ports)
        out.value(std::int64_t{port});
    out.end_array();
}

void put_retention(json::writer& out, const inbox::v1::Retention& retention)
{
    out.key("retention").begin_object();
    if (retention.has_max_age_seconds())
        out.member("maxAgeSeconds", retention.max_age_seconds());
    else
        out.null_member("maxAgeSeconds");
    const bool drops_oldest = retention.when_full() == inbox::v1::WHEN_FULL_DROP_OLDEST;
    out.member("whenFull", drops_oldest ? "dropOldest" : "refuse");
    out.end_object();
}

// Neither user nor password has a character that a URL escapes.
std::string url_of(const inbox::v1::Login& login, const capture_server& server,
                   const secret& password)
{
    const bool has_tls = !server.tls_ports.empty();
    const auto& ports = has_tls                          ? server.tls_ports
                        : !server.starttls_ports.empty() ? server.starttls_ports
                                                         : server.clear_ports;
    return (has_tls ? "smtps://" : "smtp://") + login.user() + ":" + password.reveal() + "@" +
           server.host + ":" + std::to_string(ports.front());
}

void put_login(json::writer& out, const inbox::v1::Login& login, const capture_server& server,
               const std::optional<secret>& password)
{
    out.begin_object();
    put_text(out, "host", server.is_set(), server.host);
    out.key("ports").begin_object();
    put_ports(out, "starttls", server.starttls_ports);
    put_ports(out, "tls", server.tls_ports);
    put_ports(out, "clear", server.clear_ports);
    out.end_object();
    out.member("user", login.user());
    if (password && server.is_set()) {
        out.member("password", password->reveal());
        out.member("url", url_of(login, server, *password));
    }
    put_time(out, "createdAt", login.has_created_at(), login.created_at());
    put_time(out, "lastUsedAt", login.has_last_used_at(), login.last_used_at());
    put_time(out, "previousValidUntil", login.has_previous_valid_until(),
             login.previous_valid_until());
    out.end_object();
}

void put_inbox(json::writer& out, const inbox::v1::Inbox& inbox, const capture_server& server,
               const inbox_extras& extras)
{
    out.begin_object();
    out.member("inboxId", inbox.inbox_id());
    out.member("emailAddress", inbox.email_address());
    put_text(out, "name", inbox.has_name(), inbox.name());
    put_texts(out, "tags", inbox.tags());
    put_metadata(out, inbox.metadata());
    out.member("status", inbox.status() == inbox::v1::INBOX_STATUS_EXPIRED ? "expired" : "active");
    out.member("emailCount", inbox.email_count());
    out.member("lastSequence", inbox.last_sequence());
    put_time(out, "lastEmailAt", inbox.has_last_email_at(), inbox.last_email_at());
    put_time(out, "createdAt", inbox.has_created_at(), inbox.created_at());
    put_time(out, "expiresAt", inbox.has_expires_at(), inbox.expires_at());
    put_time(out, "expiredAt", inbox.has_expired_at(), inbox.expired_at());
    out.member("renewOnUse", inbox.renew_on_use());
    put_retention(out, inbox.retention());
    if (inbox.has_login()) {
        out.key("capture");
        put_login(out, inbox.login(), server, extras.password);
    } else {
        out.null_member("capture");
    }
    if (extras.fullness)
        out.member("isFull", inbox.is_full());
    out.end_object();
}

// As in the body of an error, with what is a header there.
void put_refusal(json::writer& out, const failure& refused)
{
    const auto status = http::status_of(refused.code);
    out.begin_object()
        .member("statusCode", status)
        .member("error", http::status_name(status))
        .member("message", refused.message)
        .member("code", to_string(http::reason_of(refused)))
        .end_object();
}

void put_created(json::writer& out, const created_inbox& created, const capture_server& server,
                 const std::optional<secret>& password)
{
    out.begin_object();
    if (created) {
        out.key("inbox");
        put_inbox(out, created->inbox(), server, inbox_extras{false, password});
        out.null_member("error");
    } else {
        out.null_member("inbox").key("error");
        put_refusal(out, created.error());
    }
    out.end_object();
}

void put_rejection(json::writer& out, const inbox::v1::Rejection& rejection)
{
    out.begin_object();
    out.member("reason", rejection.reason());
    out.member("mailFrom", rejection.mail_from());
    out.member("reply", rejection.reply());
    out.member("attemptCount", rejection.attempts());
    put_time(out, "firstAt", rejection.has_first_at(), rejection.first_at());
    put_time(out, "lastAt", rejection.has_last_at(), rejection.last_at());
    out.end_object();
}

void put_domain(json::writer& out, const inbox::v1::Domain& domain)
{
    out.begin_object()
        .member("domain", domain.domain())
        .member("isDefault", domain.is_default())
        .member("takesSubdomains", domain.takes_subdomains())
        .member("isSubdomain", domain.is_subdomain())
        .end_object();
}

} // namespace

std::string to_json(const inbox::v1::Inbox& inbox, const capture_server& server,
                    const inbox_extras& extras)
{
    json::writer out;
    put_inbox(out, inbox, server, extras);
    return out.take();
}

std::string to_json(const inbox::v1::Login& login, const capture_server& server,
                    const secret& password)
{
    json::writer out;
    put_login(out, login, server, password);
    return out.take();
}

std::string to_json(const std::vector<created_inbox>& batch, const capture_server& server,
                    const std::vector<std::optional<secret>>& passwords)
{
    json::writer out;
    out.begin_object().key("results").begin_array();
    for (std::size_t i = 0; i < batch.size(); ++i)
        put_created(out, batch[i], server, passwords.at(i));
    out.end_array().end_object();
    return out.take();
}

std::string to_json(const inbox::v1::ListInboxesResponse& list, const capture_server& server)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "inboxes", list.inboxes(),
                [&server](json::writer& to, const inbox::v1::Inbox& inbox) {
                    put_inbox(to, inbox, server, inbox_extras());
                });
    put_cursor(out, list.next_cursor());
    out.end_object();
    return out.take();
}

std::string to_json(const inbox::v1::ListRejectionsResponse& list)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "rejections", list.rejections(), put_rejection);
    out.end_object();
    return out.take();
}

std::string to_json(const inbox::v1::ListDomainsResponse& list)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "domains", list.domains(), put_domain);
    out.end_object();
    return out.take();
}

std::string deleted_json(std::string_view id_name, std::string_view id)
{
    json::writer out;
    out.begin_object().member(id_name, id).member("deleted", true).end_object();
    return out.take();
}

std::string deleted_count_json(std::int64_t count)
{
    json::writer out;
    out.begin_object().member("deletedCount", count).end_object();
    return out.take();
}

std::string emptied_json(std::string_view id, std::int64_t emails)
{
    json::writer out;
    out.begin_object().member("inboxId", id).member("deletedCount", emails).end_object();
    return out.take();
}

} // namespace tempinbox::gateway
