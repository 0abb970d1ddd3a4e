#include "gateway/dashboard_api/keys.hpp"

#include "common/json/object_reader.hpp"
#include "common/log/log.hpp"
#include "gateway/api/json.hpp"
#include "gateway/api/query_reader.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_label_length = 100;

void put_key(json::writer& out, const accounts::api_key& key, const plans::plan_limits& limits)
{
    out.member("keyId", key.id.text());
    out.member("label", key.label);
    out.member("prefix", key.prefix);
    out.member("createdAt", key.created_at);
    out.member("lastUsedAt", key.last_used_at);
    out.member("isActive",
               limits.api_access && key.position <= limits.api_keys && !key.is_suspended);
    out.member("isSuspended", key.is_suspended);
}

std::string keys_json(const std::vector<accounts::api_key>& keys, const plans::plan_limits& limits)
{
    json::writer out;
    out.begin_object().key("keys").begin_array();
    for (const auto& key : keys) {
        out.begin_object();
        put_key(out, key, limits);
        out.end_object();
    }
    out.end_array().end_object();
    return out.take();
}

std::string made_key_json(const accounts::created_key& made, const plans::plan_limits& limits)
{
    json::writer out;
    out.begin_object();
    put_key(out, made.record, limits);
    out.member("key", made.key.reveal());
    out.end_object();
    return out.take();
}

result<std::string> read_label(const http::request& received)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    auto label = body->required_text("label", 1, max_label_length);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return label;
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

    co_return http::ok_json(keys_json(*found, who.limits()));
}

// POST /dashboard/api/keys
awaitable<http::response> create_key(const http::request& received, const caller& who,
                                     accounts::key_repository& keys)
{
    auto label = read_label(received);
    if (!label)
        co_return http::error_response(label.error());

    const auto made = co_await keys.create(who.account(), who.new_id<key_id>(), std::move(*label),
                                           accounts::key_allowance::plan);
    if (!made)
        co_return http::error_response(made.error());

    note_change("key created", who.account(), made->record.id);
    co_return http::created_json(made_key_json(*made, who.limits()),
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
