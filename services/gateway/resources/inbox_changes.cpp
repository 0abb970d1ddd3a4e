#include "gateway/resources/inbox_changes.hpp"

#include "common/core/text.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/pipeline/tagged_account.hpp"
#include "gateway/resources/inbox_limits.hpp"
#include "gateway/resources/path_ids.hpp"
#include "gateway/resources/retention.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr const char* fields[] = {"ttlSeconds", "name",      "tags",
                                  "metadata",   "retention", "renewOnUse"};

void read_metadata(json::object_reader& body, inbox::v1::UpdateInboxRequest& request)
{
    if (body.has_null("metadata"))
        request.mutable_metadata()->set_remove_all(true);
    // A patch can remove as many entries as it sets.
    const auto patch = body.text_map_patch("metadata", 2 * max_metadata, max_metadata_key_length,
                                           max_metadata_value_length);
    if (!patch)
        return;
    for (const auto& [key, text] : *patch) {
        if (text)
            (*request.mutable_metadata()->mutable_values())[key] = *text;
        else
            request.mutable_metadata()->add_removed(key);
    }
}

// An API key with a tag keeps it on its inboxes.
void read_tags(json::object_reader& body, const caller& who, inbox::v1::UpdateInboxRequest& request)
{
    const bool removes_all = body.has_null("tags");
    const auto tags = body.texts("tags", max_tags, 1, max_tag_length);
    if (!removes_all && !tags)
        return;
    auto& kept = *request.mutable_tags()->mutable_tags();
    if (tags)
        kept.Assign(tags->begin(), tags->end());
    if (who.tag() && std::find(kept.begin(), kept.end(), *who.tag()) == kept.end())
        body.fail("tags must have " + quote(*who.tag()) + ", the tag of this API key");
}

// RFC 7396: null removes a field. The lifetime cannot be removed.
result<inbox::v1::UpdateInboxRequest> read_change(const http::request& received, const caller& who)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    auto body = read_body(received);
    if (!body)
        return body.error();

    inbox::v1::UpdateInboxRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    request.set_inbox_id(id->text());
    const auto max_seconds = who.limits().max_ttl.count();
    if (body->has_null("ttlSeconds"))
        body->fail("ttlSeconds must be an integer from 60 to " + std::to_string(max_seconds) +
                   ", not null");
    if (const auto ttl = body->integer("ttlSeconds", min_ttl, max_seconds))
        request.set_ttl_seconds(*ttl);
    if (const auto name = body->text("name", 1, max_name_length))
        request.set_name(*name);
    if (body->has_null("name"))
        request.set_name("");
    read_tags(*body, who, request);
    read_metadata(*body, request);
    if (const auto retention = read_retention(*body))
        *request.mutable_retention() = *retention;
    if (body->has_null("renewOnUse"))
        body->fail("renewOnUse must be true or false, not null");
    if (const auto renews = body->boolean("renewOnUse"))
        request.set_renew_on_use(*renews);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (std::none_of(std::begin(fields), std::end(fields),
                     [&](const char* field) { return body->has(field) || body->has_null(field); }))
        return failure{errc::invalid_argument,
                       "body must have at least one of ttlSeconds, name, tags, metadata, "
                       "retention, renewOnUse"};
    return request;
}

result<inbox::v1::DeleteInboxesByTagRequest> read_tag(const http::request& received,
                                                      const caller& who)
{
    query_reader query(received);
    const auto tag = query.text("tag", 1, max_tag_length);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();
    if (!tag)
        return failure{errc::invalid_argument,
                       "tag is required: all live inboxes with this tag are expired"};

    inbox::v1::DeleteInboxesByTagRequest request;
    set_account(request, who);
    request.set_tag(*tag);
    return request;
}

} // namespace

// PATCH /v1/inboxes/{inboxId}
awaitable<http::response> update_inbox(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server)
{
    auto request = read_change(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto changed = co_await inboxes.call_batched(inbox_methods::update_inbox,
                                                       std::move(*request), who.account());
    if (!changed)
        co_return http::error_response(changed.error());

    co_return http::ok_json(to_json(changed->inbox(), server));
}

// DELETE /v1/inboxes?tag=
awaitable<http::response> delete_tagged_inboxes(const http::request& received, const caller& who,
                                                inbox_client& inboxes)
{
    auto request = read_tag(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto deleted =
        co_await inboxes.call(inbox_methods::delete_inboxes_by_tag, std::move(*request));
    if (!deleted)
        co_return http::error_response(deleted.error());

    co_return http::ok_json(deleted_count_json(deleted->deleted()));
}

// DELETE /v1/inboxes/{inboxId}/emails
awaitable<http::response> empty_inbox(const http::request& received, const caller& who,
                                      inbox_client& inboxes)
{
    const auto request = read_inbox_path<inbox::v1::EmptyInboxRequest>(received, who);
    if (!request)
        co_return http::error_response(request.error());
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    const auto emptied = co_await inboxes.call(inbox_methods::empty_inbox, *request);
    if (!emptied)
        co_return http::error_response(emptied.error());

    co_return http::ok_json(emptied_json(request->inbox_id(), emptied->deleted_emails()));
}

} // namespace tempinbox::gateway
