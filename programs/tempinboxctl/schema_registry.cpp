#include "tempinboxctl/schema_registry.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/json/value.hpp"
#include "common/json/writer.hpp"

namespace tempinbox::ctl {
namespace {

constexpr const char* content_type = "application/vnd.schemaregistry.v1+json";

http::client_request make_request(const schema_registry& registry, std::string method,
                                  const std::string& path)
{
    auto base = registry.url;
    while (base.ends_with('/'))
        base.pop_back();
    http::client_request request;
    request.method = std::move(method);
    request.url = base + path;
    request.headers.emplace_back("Accept", content_type);
    if (!registry.user.empty())
        request.headers.emplace_back(
            "Authorization",
            "Basic " + to_base64(registry.user + ":" + registry.password.reveal()));
    return request;
}

// The response's JSON object, or why there is none.
result<json::value> read_response(const http::client_response& response, const std::string& subject)
{
    if (response.error != http::exchange_error::none)
        return failure{errc::unavailable,
                       "the schema registry does not answer: " + response.error_text};
    json::limits allowed;
    allowed.bytes = 1024 * 1024;
    auto body = json::value::parse(response.body, allowed);
    if (response.status != 200) {
        const auto message = body ? body->find("message") : std::nullopt;
        auto said = std::to_string(response.status);
        if (message && message->is_string())
            said += " " + to_clean_utf8(message->text());
        return failure{response.status == 409 ? errc::conflict : errc::unavailable,
                       "the schema registry refused " + subject + ": " + said};
    }
    if (!body || !body->is_object())
        return failure{errc::unavailable,
                       "the answer is no JSON object: is --registry a schema registry?"};
    return *body;
}

std::optional<uuid> guid_in(const json::value& response)
{
    const auto guid = response.find("guid");
    return guid && guid->is_string() ? uuid::parse(guid->text()) : std::nullopt;
}

} // namespace

awaitable<result<uuid>> register_schema(http::sender send, schema_registry registry,
                                        std::string subject, std::string schema)
{
    auto registering = make_request(registry, "POST", "/subjects/" + subject + "/versions");
    registering.headers.emplace_back("Content-Type", content_type);
    json::writer body;
    body.begin_object().member("schemaType", "PROTOBUF").member("schema", schema).end_object();
    registering.body = body.take();
    const auto registered = read_response(co_await send(std::move(registering)), subject);
    if (!registered)
        co_return registered.error();
    if (const auto guid = guid_in(*registered))
        co_return *guid;

    // Some registries name only the number here, and the GUID with the schema.
    const auto id = registered->find("id");
    if (!id || !id->is_integer())
        co_return failure(errc::unavailable, "the schema registry named no id for " + subject);
    auto asking = make_request(
        registry, "GET", "/schemas/ids/" + std::to_string(id->integer()) + "?subject=" + subject);
    const auto found = read_response(co_await send(std::move(asking)), subject);
    if (!found)
        co_return found.error();
    if (const auto guid = guid_in(*found))
        co_return *guid;
    co_return failure(errc::unavailable,
                      "the schema registry gives its schemas no GUID, which the header "
                      "__value_schema_id needs: Confluent's has them from 8.0 on");
}

} // namespace tempinbox::ctl
