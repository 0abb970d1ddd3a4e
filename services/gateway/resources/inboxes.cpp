#include "gateway/resources/inboxes.hpp"

#include "common/async/gather.hpp"
#include "common/core/text.hpp"
#include "common/credentials/capture_login.hpp"
#include "common/crypto/digest.hpp"
#include "common/json/object_reader.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/pipeline/tagged_account.hpp"
#include "gateway/resources/captures.hpp"
#include "gateway/resources/inbox_limits.hpp"
#include "gateway/resources/path_ids.hpp"
#include "gateway/resources/retention.hpp"

#include <algorithm>
#include <optional>

namespace tempinbox::gateway {
namespace {

// A new inbox gets the tag of the API key that makes it.
std::vector<std::string> with_tag_of_key(json::object_reader& body, std::vector<std::string> tags,
                                         const std::string& tag_of_key)
{
    if (std::find(tags.begin(), tags.end(), tag_of_key) != tags.end())
        return tags;
    if (tags.size() == max_tags)
        body.fail("tags must have at most " + std::to_string(max_tags - 1) + " items beside " +
                  quote(tag_of_key) + ", which this API key adds");
    tags.push_back(tag_of_key);
    return tags;
}

// An inbox to create, and the password of its login, which is known here alone.
struct new_inbox
{
    inbox::v1::CreateInboxRequest request;
    std::optional<secret> password;

    // A repeat creates the same.
    void set_id(inbox_id id)
    {
        request.set_inbox_id(id.text());
        if (!password)
            return;
        request.mutable_login()->set_login_id(id.text());
        request.mutable_login()->set_password_sha256(
            credentials::capture_password_digest(password->reveal()));
    }
};

// Reads the fields of a new inbox; errors are left to its reader. The inbox service decides which
// local parts and domains are available.
new_inbox read_fields(json::object_reader& body, const caller& who, const capture_server& server)
{
    const auto local_part = body.text("localPart", 1, max_local_part_length);
    const auto domain = body.text("domain", 1, max_domain_length);
    const auto ttl = body.integer("ttlSeconds", min_ttl, who.limits().max_ttl.count());
    const auto name = body.text("name", 1, max_name_length);
    auto tags = body.texts("tags", max_tags, 1, max_tag_length);
    if (who.tag())
        tags =
            with_tag_of_key(body, std::move(tags).value_or(std::vector<std::string>()), *who.tag());
    const auto metadata =
        body.text_map("metadata", max_metadata, max_metadata_key_length, max_metadata_value_length);

    const auto retention = read_retention(body);
    const auto renews = body.boolean("renewOnUse");
    const bool is_capture = body.boolean("capture").value_or(false);
    if (const auto served = check_captures(server); is_capture && !served)
        body.fail(served.error().message);

    new_inbox created;
    auto& request = created.request;
    *request.mutable_account() = plans::to_proto(who.state);
    if (local_part)
        request.set_local_part(*local_part);
    if (domain)
        request.set_domain(*domain);
    if (ttl)
        request.set_ttl_seconds(*ttl);
    if (name)
        request.set_name(*name);
    if (tags)
        request.mutable_tags()->Assign(tags->begin(), tags->end());
    if (metadata)
        request.mutable_metadata()->insert(metadata->begin(), metadata->end());
    if (retention)
        *request.mutable_retention() = *retention;
    if (renews)
        request.set_renew_on_use(*renews);
    if (is_capture)
        created.password = credentials::make_capture_password();
    return created;
}

// Reads the body of POST /v1/inboxes.
result<new_inbox> read_new_inbox(const http::request& received, const caller& who,
                                 const capture_server& server)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    auto created = read_fields(*body, who, server);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    created.set_id(who.new_id<inbox_id>());
    return created;
}

// Inboxes of a batch have ids that follow from its own, so that a repeat creates the same. Of its
// time, they are in the batch's order and otherwise as random as any (RFC 9562 5.7).
inbox_id id_in_batch(const uuid& batch, std::size_t index)
{
    auto bytes = batch.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto digest = crypto::sha256("inbox " + std::to_string(index) + " " + std::string(text));
    bytes[6] = 0x70;
    bytes[7] = static_cast<std::uint8_t>(index);
    for (std::size_t i = 8; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(digest[i]);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
    return inbox_id(uuid(bytes));
}

// Reads the body of POST /v1/inboxes:batch. What is wrong with one refuses all.
result<std::vector<new_inbox>> read_new_inboxes(const http::request& received, const caller& who,
                                                const capture_server& server)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    const auto given = body->objects("inboxes", max_batch);
    if (!given || given->empty())
        body->fail("inboxes must be an array of 1 to " + std::to_string(max_batch) +
                   " objects, one for each inbox");
    const auto batch = who.new_id<inbox_id>().value();
    std::vector<new_inbox> inboxes;
    for (const auto& item : given.value_or(std::vector<json::value>())) {
        json::object_reader fields(item);
        inboxes.push_back(read_fields(fields, who, server));
        report_inner_error(*body, "inboxes[" + std::to_string(inboxes.size() - 1) + "]", fields);
        inboxes.back().set_id(id_in_batch(batch, inboxes.size() - 1));
    }
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return inboxes;
}

// Whether it is unknown what became of a creation.
bool is_undecided(const created_inbox& outcome)
{
    if (outcome)
        return false;
    const auto code = outcome.error().code;
    return code == errc::unavailable || code == errc::deadline_exceeded || code == errc::internal;
}

inbox::v1::InboxStatus to_status(const std::string& text)
{
    if (text == "all")
        return inbox::v1::INBOX_STATUS_UNSPECIFIED;
    return text == "expired" ? inbox::v1::INBOX_STATUS_EXPIRED : inbox::v1::INBOX_STATUS_ACTIVE;
}

result<inbox::v1::ListInboxesRequest> read_list(const http::request& received, const caller& who)
{
    query_reader query(received);
    const auto status = query.choice("status", "active", {"active", "expired", "all"});
    const auto tag = query.text("tag", 1, max_tag_length);
    const auto address = query.text("address", 1, max_address_length);
    const auto page = read_page(query);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    inbox::v1::ListInboxesRequest list;
    set_account(list, who);
    list.set_status(to_status(status));
    if (tag)
        list.set_tag(*tag);
    if (address)
        list.set_address(*address);
    set_page(list, page);
    return list;
}

} // namespace

// POST /v1/inboxes
awaitable<http::response> create_inbox(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server)
{
    auto requested = read_new_inbox(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());

    const auto created = co_await inboxes.call_batched(
        inbox_methods::create_inbox, std::move(requested->request), who.account());
    if (!created)
        co_return http::error_response(created.error());

    inbox_extras extras;
    extras.password = std::move(requested->password);
    co_return http::created_json(to_json(created->inbox(), server, extras),
                                 who.location_of("inboxes", created->inbox().inbox_id()));
}

awaitable<http::response> check_new_inbox(const http::request& received, const caller& who,
                                          inbox_client& inboxes, const capture_server& server)
{
    auto requested = read_new_inbox(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());
    requested->request.set_check_only(true);

    const auto checked =
        co_await inboxes.call(inbox_methods::create_inbox, std::move(requested->request));
    if (!checked)
        co_return http::error_response(checked.error());

    co_return http::response(204, "", "");
}

// POST /v1/inboxes:batch
awaitable<http::response> create_inboxes(const http::request& received, const caller& who,
                                         inbox_client& inboxes, const capture_server& server)
{
    auto requested = read_new_inboxes(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());

    // The request itself is counted.
    if (who.add_to_burst)
        who.add_to_burst(requested->size() - 1);
    std::vector<awaitable<created_inbox>> creations;
    std::vector<std::optional<secret>> passwords;
    for (auto& each : *requested) {
        creations.push_back(inboxes.call_batched(inbox_methods::create_inbox,
                                                 std::move(each.request), who.account()));
        passwords.push_back(std::move(each.password));
    }
    const auto created = co_await async::gather(std::move(creations));
    const auto undecided = std::find_if(created.begin(), created.end(), is_undecided);
    if (undecided != created.end())
        co_return http::error_response(undecided->error());

    co_return http::ok_json(to_json(created, server, passwords));
}

awaitable<http::response> check_new_inboxes(const http::request& received, const caller& who,
                                            inbox_client&, const capture_server& server)
{
    const auto requested = read_new_inboxes(received, who, server);
    if (!requested)
        co_return http::error_response(requested.error());
    co_return http::response(204, "", "");
}

// GET /v1/inboxes
awaitable<http::response> list_inboxes(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server)
{
    auto request = read_list(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await inboxes.call(inbox_methods::list_inboxes, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found, server));
}

// GET /v1/inboxes/{inboxId}
awaitable<http::response> get_inbox(const http::request& received, const caller& who,
                                    inbox_client& inboxes, const capture_server& server)
{
    auto request =
        without_query(received, read_inbox_path<inbox::v1::GetInboxRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto found =
        co_await inboxes.call_batched(inbox_methods::get_inbox, std::move(*request), who.account());
    if (!found)
        co_return http::error_response(found.error());

    inbox_extras extras;
    extras.fullness = who.is_dashboard;
    co_return http::ok_json(to_json(found->inbox(), server, extras));
}

// DELETE /v1/inboxes/{inboxId}
awaitable<http::response> delete_inbox(const http::request& received, const caller& who,
                                       inbox_client& inboxes)
{
    const auto request =
        without_query(received, read_inbox_path<inbox::v1::DeleteInboxRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto deleted =
        co_await inboxes.call_batched(inbox_methods::delete_inbox, *request, who.account());
    if (!deleted)
        co_return http::error_response(deleted.error());

    co_return http::ok_json(deleted_json("inboxId", request->inbox_id()));
}

// GET /v1/inboxes/{inboxId}/rejections
awaitable<http::response> list_rejections(const http::request& received, const caller& who,
                                          inbox_client& inboxes)
{
    auto request =
        without_query(received, read_inbox_path<inbox::v1::ListRejectionsRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await inboxes.call(inbox_methods::list_rejections, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found));
}

// GET /v1/domains
awaitable<http::response> list_domains(const http::request& received, const caller& who,
                                       inbox_client& inboxes)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    inbox::v1::ListDomainsRequest request;
    request.set_account_id(who.account().text());
    const auto found = co_await inboxes.call(inbox_methods::list_domains, std::move(request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found));
}

} // namespace tempinbox::gateway
