#include "gateway/resources/email_content.hpp"

#include "common/core/encoding.hpp"
#include "common/json/value.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace inbox::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

// An inbox service that has one message with one attachment.
class arranged_content
{
public:
    arranged_content()
    {
        service_.response<GetRawEmailRequest, GetRawEmailResponse>(
            "tempinbox.inbox.v1.InboxService/GetRawEmail",
            [this](const GetRawEmailRequest& request) { return raw_of(request); });
        service_.response<GetAttachmentRequest, GetAttachmentResponse>(
            "tempinbox.inbox.v1.InboxService/GetAttachment",
            [this](const GetAttachmentRequest& request) { return attachment_of(request); });
        client_ = std::make_unique<inbox_client>(testing::test_host(), service_.start(),
                                                 service_.tokens());
    }

    http::response get_raw(http::header_list headers = {}, http::header_list query = {})
    {
        auto received = request(std::move(headers));
        received.query = std::move(query);
        return testing::await(get_raw_email(received, who_, *client_, memory));
    }
    http::response get_part(http::header_list headers = {}, const std::string& part = "2")
    {
        return get_part_as(who_, std::move(headers), part);
    }
    http::response download_part(http::header_list headers = {})
    {
        auto received = request(std::move(headers));
        received.path_params.emplace_back("attachmentId", "2");
        received.query = {{"download", "1"}};
        return testing::await(get_attachment(received, who_, *client_, memory));
    }
    http::response get_part_as(const caller& who, http::header_list headers = {},
                               const std::string& part = "2")
    {
        auto received = request(std::move(headers));
        received.path_params.emplace_back("attachmentId", part);
        return testing::await(get_attachment(received, who, *client_, memory));
    }

    std::string raw = "Subject: hi\r\n\r\nbody\r\n";
    std::string content = "\x89PNG";
    std::string type = "image/png";
    bool is_there = true;
    response_budget memory{1'000'000};
    int calls = 0;

private:
    static http::request request(http::header_list headers)
    {
        http::request received;
        received.method = "GET";
        received.path_params.emplace_back("emailId", some_id);
        received.headers = std::move(headers);
        return received;
    }

    result<GetRawEmailResponse> raw_of(const GetRawEmailRequest& request)
    {
        ++calls;
        if (!is_there)
            return failure{errc::not_found, "Email does not exist"};
        GetRawEmailResponse response;
        response.set_size_bytes(static_cast<std::int64_t>(raw.size()));
        response.set_trace("Return-Path: <a@b>\r\n");
        if (request.most_bytes() == 0 || response.size_bytes() <= request.most_bytes())
            response.set_raw(raw);
        return response;
    }

    result<GetAttachmentResponse> attachment_of(const GetAttachmentRequest& request)
    {
        ++calls;
        if (request.attachment_id() != "2")
            return failure{errc::not_found, "Attachment does not exist"};
        GetAttachmentResponse response;
        response.mutable_attachment()->set_attachment_id("2");
        response.mutable_attachment()->set_filename("Bild ü.png");
        response.mutable_attachment()->set_content_type(type);
        response.mutable_attachment()->set_size_bytes(static_cast<std::int64_t>(content.size()));
        if (request.most_bytes() == 0 ||
            static_cast<std::int64_t>(content.size()) <= request.most_bytes())
            response.set_content(content);
        return response;
    }

    testing::fake_service service_;
    caller who_ = testing::premium_caller();
    std::unique_ptr<inbox_client> client_;
};

std::string header(const http::response& response, std::string_view name)
{
    return std::string(http::find_header(response.headers, name).value_or(""));
}

} // namespace

TEST_CASE("a message is JSON, or its bytes behind the trace for who asks", "[gateway][content]")
{
    arranged_content arranged;

    const auto as_json = arranged.get_raw();
    const auto as_mail = arranged.get_raw({{"Accept", "message/rfc822"}});

    const auto body = json::value::parse(as_json.body).value();
    CHECK(body["emailId"].text() == some_id);
    CHECK(from_base64(body["content"].text()) == arranged.raw);
    CHECK(header(as_json, "Content-Type").starts_with("application/json"));
    CHECK(header(as_json, "Content-Disposition") ==
          "attachment; filename=\"" + some_id + ".eml.json\"");
    CHECK(header(as_json, "X-Content-Type-Options") == "nosniff");
    CHECK(as_mail.body == "Return-Path: <a@b>\r\n" + arranged.raw);
    CHECK(header(as_mail, "Content-Type") == "message/rfc822");
    CHECK(header(as_mail, "X-Content-Type-Options") == "nosniff");
    CHECK(header(as_mail, "Vary") == "Accept");
    CHECK(header(as_mail, "ETag") != header(as_json, "ETag"));
}

TEST_CASE("what the client has is 304 without a body", "[gateway][content]")
{
    arranged_content arranged;
    const auto first = arranged.get_raw();

    const auto again = arranged.get_raw({{"If-None-Match", header(first, "ETag")}});
    const auto other_form =
        arranged.get_raw({{"If-None-Match", header(first, "ETag")}, {"Accept", "message/rfc822"}});

    CHECK(again.status == 304);
    CHECK(again.body.empty());
    CHECK(header(again, "ETag") == header(first, "ETag"));
    CHECK(other_form.status == 200);
}

TEST_CASE("an Accept that nothing fits is 406 and names what there is", "[gateway][content]")
{
    arranged_content arranged;

    const auto mail = arranged.get_raw({{"Accept", "text/html"}});
    const auto part = arranged.get_part({{"Accept", "text/html"}});

    CHECK(mail.status == 406);
    CHECK(mail.body.find("message/rfc822") != std::string::npos);
    CHECK(part.status == 406);
    CHECK(part.body.find("image/png") != std::string::npos);
    arranged.is_there = false;
    CHECK(arranged.get_raw({{"Accept", "text/html"}}).status == 404);
    CHECK(arranged.get_part({{"Accept", "text/html"}}, "9").status == 404);
}

TEST_CASE("an attachment is JSON, its own type or plain bytes, and always to be saved",
          "[gateway][content]")
{
    arranged_content arranged;

    const auto as_json = arranged.get_part();
    const auto as_image = arranged.get_part({{"Accept", "image/*"}});
    const auto as_bytes = arranged.get_part({{"Accept", "application/octet-stream"}});

    const auto body = json::value::parse(as_json.body).value();
    CHECK(body["attachmentId"].text() == "2");
    CHECK(body["filename"].text() == "Bild ü.png");
    CHECK(body["contentType"].text() == "image/png");
    CHECK(body["sizeBytes"].integer() == 4);
    CHECK(from_base64(body["content"].text()) == arranged.content);
    CHECK(as_image.body == arranged.content);
    CHECK(header(as_image, "Content-Type") == "image/png");
    CHECK(header(as_bytes, "Content-Type") == "application/octet-stream");
    for (const auto& response : {as_json, as_image, as_bytes}) {
        CHECK(header(response, "Content-Disposition")
                  .starts_with("attachment; filename=\"Bild _.png"));
        CHECK(header(response, "X-Content-Type-Options") == "nosniff");
    }
    CHECK(arranged.get_part({}, "9").status == 404);
}

TEST_CASE("a download is the file whatever Accept says, of its own type and name, and runs nowhere",
          "[gateway][content]")
{
    arranged_content arranged;
    arranged.type = "text/html";

    const auto mail = arranged.get_raw({{"Accept", "application/json"}}, {{"download", "1"}});
    const auto page = arranged.download_part({{"Accept", "text/plain"}});
    const auto same = arranged.get_part({{"Accept", "text/html"}});

    CHECK(mail.body == "Return-Path: <a@b>\r\n" + arranged.raw);
    CHECK(header(mail, "Content-Type") == "message/rfc822");
    CHECK(header(mail, "Content-Disposition") == "attachment; filename=\"" + some_id + ".eml\"");
    CHECK(page.body == arranged.content);
    CHECK(header(page, "Content-Type") == "text/html");
    CHECK(header(page, "Content-Disposition").starts_with("attachment; filename=\"Bild _.png\""));
    CHECK(header(page, "ETag") == header(same, "ETag"));
    for (const auto& response : {mail, page}) {
        CHECK(response.status == 200);
        CHECK(header(response, "X-Content-Type-Options") == "nosniff");
        CHECK(header(response, "Content-Security-Policy").starts_with("sandbox;"));
    }
    const auto etag = header(page, "ETag");
    CHECK(arranged.download_part({{"If-None-Match", etag}}).status == 304);
}

TEST_CASE("download=0 is JSON, and any other value is refused", "[gateway][content]")
{
    arranged_content arranged;

    const auto as_json = arranged.get_raw({}, {{"download", "0"}});

    CHECK(header(as_json, "Content-Type").starts_with("application/json"));
    CHECK(arranged.get_raw({}, {{"download", "yes"}}).status == 400);
    CHECK(arranged.get_raw({}, {{"download", ""}}).status == 400);
    CHECK(arranged.get_raw({}, {{"download", "1"}, {"download", "1"}}).status == 400);
    CHECK(arranged.get_raw({}, {{"downloads", "1"}}).status == 400);
    CHECK(arranged.calls == 1);
}

TEST_CASE("a large response is counted once until it is released; without room for the copies of "
          "another it is 503",
          "[gateway][content]")
{
    arranged_content arranged;
    arranged.raw.assign(100'000, 'x');
    arranged.content.assign(100'000, 'x');

    auto first = arranged.get_raw();
    const auto held = arranged.memory.used();
    const auto refused = arranged.get_part();
    const auto other = arranged.get_part_as(testing::premium_caller());
    const auto not_modified = arranged.get_raw({{"If-None-Match", header(first, "ETag")}});
    const auto body = first.body.size();
    first = http::response();

    CHECK(arranged.calls == 6);
    CHECK(held == body);
    CHECK(other.status == 200);
    CHECK(refused.status == 503);
    CHECK(header(refused, "Retry-After") == "1");
    CHECK(not_modified.status == 304);
    CHECK(arranged.memory.used() == other.body.size());
    CHECK(arranged.get_part().status == 200);
}
