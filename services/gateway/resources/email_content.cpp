#include "gateway/resources/email_content.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "gateway/pipeline/negotiation.hpp"
#include "gateway/resources/path_ids.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t own_type = 1; // among what is offered: JSON comes first

// A message never changes, so its id names its content. The number changes when its representation
// changes.
std::string etag_of(std::string_view id, std::string_view form)
{
    return "\"" + std::string(id) + "." + std::string(form) + ".1\"";
}

http::response not_acceptable(std::string_view offers, const std::optional<std::string>& accept)
{
    return http::error_response(406, "Accept must allow " + std::string(offers) + ", not " +
                                         quote(accept.value_or("")));
}

// Where a link cannot say Accept: `download=1` asks for the bytes as a file.
result<bool> wants_file(const http::request& received)
{
    query_reader query(received);
    const auto download = query.choice("download", "0", {"0", "1"});
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();
    return download == "1";
}

http::response& add_validators(http::response& response, std::string_view etag)
{
    response.set("ETag", etag);
    response.set("Vary", "Accept");
    return response;
}

http::response not_modified(std::string_view etag)
{
    http::response response;
    response.status = 304;
    return add_validators(response, etag);
}

// What strangers sent may only be saved, never rendered as a page of our origin.
http::response file_response(std::string_view content_type, std::string content,
                             std::string_view filename, std::string_view etag)
{
    http::response response(200, content_type, std::move(content));
    response.set("Content-Disposition", attachment_disposition(filename));
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Content-Security-Policy", "sandbox; default-src 'none'");
    return add_validators(response, etag);
}

// Base64 needs no escapes, so it is appended to the object as it is.
std::string with_base64(std::string object, std::string_view name, std::string_view bytes)
{
    object.pop_back();
    object.reserve(object.size() + name.size() + bytes.size() / 3 * 4 + 16);
    object.append(",\"").append(name).append("\":\"");
    append_base64(object, bytes);
    object.append("\"}");
    return object;
}

std::string id_json(const std::string& email)
{
    json::writer out;
    out.begin_object().member("emailId", email).end_object();
    return out.take();
}

std::string about_json(const inbox::v1::Attachment& about)
{
    json::writer out;
    out.begin_object();
    out.member("attachmentId", about.attachment_id());
    out.member("filename", about.filename());
    out.member("contentType", about.content_type());
    out.member("sizeBytes", about.size_bytes());
    out.end_object();
    return out.take();
}

http::response raw_response(const std::string& email, inbox::v1::GetRawEmailResponse& found,
                            bool is_json, std::string_view etag)
{
    if (!is_json)
        return file_response("message/rfc822", found.trace() + found.raw(), email + ".eml", etag);
    auto response = http::ok_json(with_base64(id_json(email), "content", found.raw()));
    response.set("Content-Disposition", attachment_disposition(email + ".eml.json"));
    response.set("X-Content-Type-Options", "nosniff");
    return add_validators(response, etag);
}

http::response attachment_response(inbox::v1::GetAttachmentResponse& found, const std::string& type,
                                   bool is_json, std::string_view etag)
{
    const auto& about = found.attachment();
    if (!is_json)
        return file_response(type, std::move(*found.mutable_content()), about.filename(), etag);
    auto response = http::ok_json(with_base64(about_json(about), "content", found.content()));
    response.set("Content-Disposition", attachment_disposition(about.filename() + ".json"));
    response.set("X-Content-Type-Options", "nosniff");
    return add_validators(response, etag);
}

} // namespace

// GET /v1/emails/{emailId}/raw
awaitable<http::response> get_raw_email(const http::request& received, const caller& who,
                                        inbox_client& inboxes, response_budget& memory)
{
    auto request = read_email_path<inbox::v1::GetRawEmailRequest>(received, who);
    if (!request)
        co_return http::error_response(request.error());
    const auto is_file = wants_file(received);
    if (!is_file)
        co_return http::error_response(is_file.error());
    request->set_most_bytes(small_response);
    auto found = co_await inboxes.call(inbox_methods::get_raw_email, *request);
    if (!found)
        co_return http::error_response(found.error());

    const auto accept = joined_header(received, "Accept");
    const auto form = *is_file ? std::optional<std::size_t>(own_type)
                               : choose_media_type(accept, {"application/json", "message/rfc822"});
    if (!form)
        co_return not_acceptable("application/json or message/rfc822", accept);
    const bool is_json = *form == 0;
    const auto etag = etag_of(request->email_id(), is_json ? "json" : "rfc822");
    if (matches_etag(received, etag))
        co_return not_modified(etag);

    response_budget::reservation booked;
    if (!found->has_raw()) {
        booked = memory.try_reserve(
            who.account(), response_copies * static_cast<std::size_t>(found->size_bytes()));
        if (!booked)
            co_return out_of_memory_response();
        request->set_most_bytes(0);
        found = co_await inboxes.call(inbox_methods::get_raw_email, *request);
        if (!found)
            co_return http::error_response(found.error());
    }
    auto response = raw_response(request->email_id(), *found, is_json, etag);
    booked.reset(); // one copy is left
    co_return reserve_response(std::move(response), who.account(), memory);
}

// GET /v1/emails/{emailId}/attachments/{attachmentId}
awaitable<http::response> get_attachment(const http::request& received, const caller& who,
                                         inbox_client& inboxes, response_budget& memory)
{
    auto request = read_email_path<inbox::v1::GetAttachmentRequest>(received, who);
    if (!request)
        co_return http::error_response(request.error());
    const auto is_file = wants_file(received);
    if (!is_file)
        co_return http::error_response(is_file.error());
    request->set_attachment_id(std::string(received.path_param("attachmentId")));
    request->set_most_bytes(small_response);
    auto found = co_await inboxes.call(inbox_methods::get_attachment, *request);
    if (!found)
        co_return http::error_response(found.error());

    const auto accept = joined_header(received, "Accept");
    const std::vector<std::string> offers{"application/json", found->attachment().content_type(),
                                          "application/octet-stream"};
    const auto form =
        *is_file ? std::optional<std::size_t>(own_type) : choose_media_type(accept, offers);
    if (!form)
        co_return not_acceptable(offers[0] + ", " + offers[1] + " or " + offers[2], accept);
    const auto etag = etag_of(request->email_id() + "." + found->attachment().attachment_id(),
                              std::to_string(*form));
    if (matches_etag(received, etag))
        co_return not_modified(etag);

    response_budget::reservation booked;
    if (!found->has_content()) {
        booked = memory.try_reserve(who.account(),
                                    response_copies *
                                        static_cast<std::size_t>(found->attachment().size_bytes()));
        if (!booked)
            co_return out_of_memory_response();
        request->set_most_bytes(0);
        found = co_await inboxes.call(inbox_methods::get_attachment, *request);
        if (!found)
            co_return http::error_response(found.error());
    }
    auto response = attachment_response(*found, offers[*form], *form == 0, etag);
    booked.reset(); // one copy is left
    co_return reserve_response(std::move(response), who.account(), memory);
}

} // namespace tempinbox::gateway
