#include "gateway/dashboard/keys.hpp"

#include "common/core/text.hpp"
#include "common/json/object_reader.hpp"
#include "common/log/log.hpp"
#include "gateway/json/fields.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/inbox_limits.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_label_length = 100;
constexpr std::size_t max_scope_length = 50; // of what is given

// Lengths of times as texts: RFC 3339 with an offset and six digits of a second fits.
constexpr std::size_t max_time_length = 40;

void put_key(json::writer& out, const accounts::api_key& key, const caller& who)
{
    const auto& access = key.access;
    out.member("keyId", key.id.text());
    out.member("label", key.label);
    out.member("prefix", key.prefix);
    if (access.scopes)
        put_texts(out, "scopes", access.scopes->names());
    else
        out.null_member("scopes");
    put_text(out, "tag", access.tag.has_value(), access.tag.value_or(""));
    out.member("expiresAt", access.expires_at);
    out.member("createdAt", key.created_at);
    out.member("lastUsedAt", key.last_used_at);
    out.member("isActive", key.is_active(who.limits(), who.now));
    out.member("isSuspended", key.is_suspended);
    out.member("isExpired", access.has_expired(who.now));
}

std::string keys_json(const std::vector<accounts::api_key>& keys, const caller& who)
{
    json::writer out;
    out.begin_object().key("keys").begin_array();
    for (const auto& key : keys) {
        out.begin_object();
        put_key(out, key, who);
        out.end_object();
    }
    out.end_array().end_object();
    return out.take();
}

std::string made_key_json(const accounts::created_key& made, const caller& who)
{
    json::writer out;
    out.begin_object();
    put_key(out, made.record, who);
    out.member("key", made.key.reveal());
    out.end_object();
    return out.take();
}

// What the body of POST /dashboard/api/keys asks for.
struct new_key
{
    std::string label;
    accounts::key_access access;
};

std::optional<accounts::scope_set> read_scopes(json::object_reader& body)
{
    const auto& allowed = accounts::scope_names();
    const auto names = body.texts("scopes", allowed.size(), 1, max_scope_length);
    if (!names)
        return std::nullopt;
    for (const auto& name : *names)
        if (!accounts::parse_scope(name))
            body.fail("scopes must be some of " + join_list(allowed) + ", not " + quote(name));
    return accounts::scope_set::of_names(*names);
}

std::optional<time_point> read_expiry(json::object_reader& body, time_point now)
{
    const auto given = body.text("expiresAt", 1, max_time_length);
    if (!given)
        return std::nullopt;
    const auto moment = parse_iso8601(*given);
    if (!moment || *moment <= now)
        body.fail("expiresAt must be a time in the future such as 2027-01-31T10:00:00.000Z, not " +
                  quote(*given));
    return moment;
}

result<new_key> read_new_key(const http::request& received, const caller& who)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    new_key requested;
    requested.label = body->required_text("label", 1, max_label_length);
    requested.access.scopes = read_scopes(*body);
    requested.access.tag = body->text("tag", 1, max_tag_length);
    requested.access.expires_at = read_expiry(*body, who.now);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (const auto sane = accounts::check_access(requested.access, who.now); !sane)
        return sane.error();
    return requested;
}

void note_change(std::string_view what, account_id account, key_id key)
{
    log::audit(what, {{"account_id", account.text()}, {"key_id", key.text()}});
}

} // namespace

// GET /dashboard/api/keys
awaitable<http::response> list_keys(const http::request& received, const caller& who,
                                    accounts::key_repository& keys)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    const auto found = co_await keys.list(who.account());
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(keys_json(*found, who));
}

// POST /dashboard/api/keys
awaitable<http::response> create_key(const http::request& received, const caller& who,
                                     accounts::key_repository& keys)
{
    auto requested = read_new_key(received, who);
    if (!requested)
        co_return http::error_response(requested.error());

    const auto made =
        co_await keys.create(who.account(), who.new_id<key_id>(), std::move(requested->label),
                             accounts::key_allowance::plan, std::move(requested->access));
    if (!made)
        co_return http::error_response(made.error());

    note_change("key created", who.account(), made->record.id);
    co_return http::created_json(made_key_json(*made, who),
                                 who.location_of("keys", made->record.id.text()));
}

// DELETE /dashboard/api/keys/{keyId}
awaitable<http::response> delete_key(const http::request& received, const caller& who,
                                     accounts::key_repository& keys)
{
    const auto id = key_id::parse(received.path_param("keyId"));
    if (!id)
        co_return http::error_response(id.error());
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    const auto revoked = co_await keys.revoke(who.account(), *id);
    if (!revoked)
        co_return http::error_response(revoked.error());

    note_change("key revoked", who.account(), *id);
    co_return http::ok_json(deleted_json("keyId", id->text()));
}

} // namespace tempinbox::gateway
