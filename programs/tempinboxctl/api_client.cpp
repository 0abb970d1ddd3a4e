#include "tempinboxctl/api_client.hpp"

#include "common/core/text.hpp"
#include "common/http/url.hpp"
#include "tempinboxctl/text_file.hpp"

#include <cstdlib>

namespace tempinbox::ctl {
namespace {

// As `./dev env` and the clients call them.
constexpr const char* api_variable = "TEMPINBOX_BASE_URL";
constexpr const char* key_variable = "TEMPINBOX_API_KEY";
constexpr const char* default_api = "http://127.0.0.1:8080";

// Absent if the variable is unset or empty: deployment templates leave empty ones behind.
std::optional<std::string> read_variable(const char* name)
{
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0')
        return std::nullopt;
    return value;
}

// From a file or the environment: a list of processes shows the command line.
result<secret> read_key(const arguments& given)
{
    if (const auto file = given.value("api-key-file"))
        return read_secret_file(*file);
    if (const auto key = read_variable(key_variable))
        return secret(*key);
    return failure{errc::invalid_argument,
                   std::string("the API key is missing: --api-key-file or ") + key_variable};
}

http::client_settings client_settings(const api_settings& chosen)
{
    http::client_settings made;
    made.connect_timeout = chosen.timeout;
    made.tls_timeout = chosen.timeout;
    made.ca_file = chosen.ca_file;
    return made;
}

// `401 Unauthorized: the API key is not valid`
std::string refusal_of(const http::client_response& answered)
{
    auto text =
        std::to_string(answered.status) + " " + std::string(http::status_name(answered.status));
    if (const auto body = json::value::parse(answered.body); body)
        if (const auto message = text_field(*body, "message"); !message.empty())
            text += ": " + message;
    return text;
}

constexpr errc refused_code(unsigned status)
{
    switch (status) {
    case 400:
        return errc::unprocessable;
    case 401:
        return errc::unauthenticated;
    case 403:
        return errc::permission_denied;
    case 404:
        return errc::not_found;
    case 410:
        return errc::conflict;
    case 429:
        return errc::rate_limited;
    case 503:
        return errc::unavailable;
    default:
        return errc::internal;
    }
}

} // namespace

std::vector<option> api_options()
{
    std::vector<option> options;
    options.emplace_back("api", "URL",
                         "base URL of the API, by default TEMPINBOX_BASE_URL or "
                         "http://127.0.0.1:8080",
                         option::kind::optional);
    options.emplace_back("api-key-file", "FILE",
                         "a file with the API key; without it the key is in TEMPINBOX_API_KEY",
                         option::kind::optional);
    options.emplace_back("ca-file", "FILE",
                         "certificate authorities to trust (PEM); without it the system's",
                         option::kind::optional);
    return options;
}

result<api_settings> read_api_settings(const arguments& given, std::chrono::seconds timeout)
{
    api_settings chosen;
    chosen.timeout = timeout;
    chosen.url = value_or_variable(given, "api", api_variable, default_api);
    while (chosen.url.ends_with('/'))
        chosen.url.pop_back();
    if (!http::target_url::parse(chosen.url))
        return failure{errc::invalid_argument,
                       "--api must be an http or https URL, not " + quote(chosen.url)};
    auto key = read_key(given);
    if (!key)
        return key.error();
    chosen.key = std::move(*key);
    chosen.ca_file = given.value("ca-file").value_or("");
    return chosen;
}

std::string value_or_variable(const arguments& given, const std::string& option_name,
                              const char* variable, const char* otherwise)
{
    if (const auto value = given.value(option_name))
        return *value;
    return read_variable(variable).value_or(otherwise);
}

result<std::chrono::seconds> read_seconds(const arguments& given, const std::string& name,
                                          std::chrono::seconds otherwise)
{
    const auto seconds = given.integer(name, 1, 3'600);
    if (!seconds)
        return seconds.error();
    return std::chrono::seconds(seconds->value_or(otherwise.count()));
}

// The text of a field of a JSON object; empty if there is none.
std::string text_field(const json::value& object, std::string_view name)
{
    const auto field = object.find(name);
    return field && field->is_string() ? field->text() : std::string();
}

result<json::value> read_body(const http::client_response& answered)
{
    json::limits allowed;
    allowed.bytes = 1024 * 1024;
    const auto body = json::value::parse(answered.body, allowed);
    if (!body)
        return failure{errc::internal, "the answer is no JSON: is this the API?"};
    return *body;
}

api_client::api_client(runtime::host& host, api_settings chosen)
    : settings_(std::move(chosen)),
      client_(host, client_settings(settings_))
{}

awaitable<result<http::client_response>> api_client::call(std::string method, std::string path,
                                                          std::string body, unsigned expected,
                                                          std::chrono::seconds timeout)
{
    http::client_request outgoing;
    outgoing.method = method;
    outgoing.url = settings_.url + path;
    outgoing.headers = {{"X-API-Key", settings_.key.reveal()}};
    if (!body.empty())
        outgoing.headers.emplace_back("Content-Type", "application/json");
    outgoing.body = std::move(body);
    outgoing.deadline = timeout;
    auto answered = co_await client_.send(std::move(outgoing));
    const auto name = method + " " + settings_.url + path + ": ";
    if (answered.error != http::exchange_error::none)
        co_return failure(errc::unavailable, name + answered.error_text);
    if (answered.status != expected)
        co_return failure(refused_code(answered.status), name + refusal_of(answered));
    co_return answered;
}

} // namespace tempinbox::ctl
