#include "cli/api_client.hpp"

#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "cli/retry.hpp"
#include "common/core/ascii.hpp"
#include "common/core/encoding.hpp"
#include "common/core/ids.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::cli {
namespace {

using exchange_error = http::exchange_error;

constexpr std::chrono::seconds usual_timeout{60};
constexpr std::chrono::milliseconds min_timeout{1}; // of a request that begins at the deadline
constexpr std::uint64_t max_response_bytes = 128 * 1024 * 1024;
constexpr std::size_t max_shown_characters = 500;

http::client_settings client_settings(const settings& chosen)
{
    http::client_settings client;
    client.connect_timeout = std::chrono::seconds(10);
    client.tls_timeout = std::chrono::seconds(10);
    client.body_limit = max_response_bytes;
    client.ca_file = chosen.ca_file;
    return client;
}

// How a request failed that got no whole response.
failure explain_exchange(const http::client_response& response, const settings& chosen)
{
    const auto cannot = "cannot reach " + chosen.base_url + ": " + response.error_text;
    switch (response.error) {
    case exchange_error::resolve:
        return {errc::unavailable,
                cannot + ". Is the host name in TEMPINBOX_BASE_URL or --base-url right?"};
    case exchange_error::tls:
        return {errc::unavailable,
                cannot + ". If the service has a certificate of its own, give its authority with "
                         "--ca-file FILE"};
    case exchange_error::malformed:
    case exchange_error::too_large:
        return {errc::unavailable,
                chosen.base_url + " does not answer as the service does: " + response.error_text +
                    ". Is TEMPINBOX_BASE_URL or --base-url right?"};
    case exchange_error::closed:
        return {errc::unavailable, "the connection to " + chosen.base_url +
                                       " was cut: " + response.error_text +
                                       ". Try again; if it stays so, look whether the service "
                                       "restarts or a proxy ends long requests (--hold 25)"};
    default:
        return {errc::unavailable,
                cannot + ". Does the service run there, and do TEMPINBOX_BASE_URL or --base-url "
                         "and the network lead to it?"};
    }
}

// The API's own sentence, or what is known of an answer that is not the API's.
std::string message_of(const http::client_response& response)
{
    const auto body = json::value::parse(response.body);
    const auto message = body ? text_of(*body, "message") : std::string();
    if (!message.empty())
        return std::string(take_characters(printable_line(message), max_shown_characters));
    const auto name = http::status_name(response.status);
    return std::to_string(response.status) + (name.empty() ? "" : " " + std::string(name));
}

std::string request_name(const http::client_response& response)
{
    const auto id = response.header("X-Request-Id");
    return id ? " (request " + printable_line(*id) + ")" : std::string();
}

std::string retry_text(const http::client_response& response)
{
    const auto delay = read_retry_after(response, system_clock_source().now());
    return delay ? "; try again in " + to_text(*delay) : std::string("; try again later");
}

failure explain_limit(const http::client_response& response, const settings& chosen)
{
    auto text = message_of(response) + retry_text(response);
    if (response.header("X-RateLimit-Remaining") == "0" &&
        response.header("X-RateLimit-Limit") != "0")
        text += ". What the plan allows: " + chosen.base_url + "/dashboard/account";
    return {errc::rate_limited, std::move(text)};
}

} // namespace

std::string encode_component(std::string_view text)
{
    constexpr std::string_view unreserved = "-._~"; // RFC 3986 2.3, besides letters and digits
    std::string encoded;
    for (const char c : text) {
        const bool is_plain = is_letter_or_digit(c) || unreserved.find(c) != std::string_view::npos;
        encoded += is_plain ? std::string(1, c) : "%" + to_hex(std::string_view(&c, 1));
    }
    return encoded;
}

query& query::add(std::string_view name, const std::optional<std::string>& value)
{
    if (value) {
        text_ += text_.empty() ? "?" : "&";
        text_.append(name).append("=").append(encode_component(*value));
    }
    return *this;
}

query& query::add(std::string_view name, const std::optional<std::int64_t>& value)
{
    return add(name, value ? std::optional(std::to_string(*value)) : std::nullopt);
}

std::optional<failure> judge(const http::client_response& response, const settings& chosen)
{
    if (response.error != exchange_error::none)
        return explain_exchange(response, chosen);
    const auto status = response.status;
    if (status >= 200 && status < 300)
        return std::nullopt;
    const auto message = message_of(response);
    switch (status) {
    case 401:
        return failure{errc::unauthenticated,
                       "the service refuses the API key of " + chosen.key_origin + ": " + message +
                           ". Is it wrong, revoked or expired? You make one at " + chosen.base_url +
                           "/dashboard/settings/keys"};
    case 403:
        // The API's sentence does not tell a program which of the two it is.
        return failure{errc::permission_denied,
                       message + ". What the plan allows: " + chosen.base_url +
                           "/dashboard/account; what a key may do: " + chosen.base_url +
                           "/dashboard/settings/keys"};
    case 404:
    case 410:
        return failure{errc::not_found, message + ". `tempinbox list` shows what there is"};
    case 409:
        return failure{errc::conflict, message};
    case 422:
        return failure{errc::unprocessable, message};
    case 429:
        return explain_limit(response, chosen);
    case 301:
    case 302:
    case 307:
    case 308:
        return failure{errc::unavailable,
                       chosen.base_url + " leads to " +
                           quote(response.header("Location").value_or("another address")) +
                           ": give that address as TEMPINBOX_BASE_URL or --base-url"};
    default:
        break;
    }
    if (status >= 500)
        return failure{errc::unavailable, "the service failed: " + message + retry_text(response) +
                                              request_name(response)};
    return failure{errc::invalid_argument, message};
}

bool is_day_used_up(const http::client_response& response)
{
    // A limit of the second may be met by the day's last requests too: the sentence tells which.
    return response.status == 429 && response.header("X-RateLimit-Remaining") == "0" &&
           message_of(response).find("daily limit") != std::string::npos;
}

result<json::value> read_object(const http::client_response& response, const settings& chosen)
{
    json::limits allowed;
    allowed.bytes = max_response_bytes;
    const auto body = json::value::parse(response.body, allowed);
    if (!body || !body->is_object())
        return failure{errc::unavailable,
                       chosen.base_url + " does not answer as the service does: no JSON object. "
                                         "Is TEMPINBOX_BASE_URL or --base-url right?"};
    return *body;
}

std::string text_of(const json::value& object, std::string_view name)
{
    const auto field = object.find(name);
    return field && field->is_string() ? field->text() : std::string();
}

std::int64_t integer_of(const json::value& object, std::string_view name)
{
    const auto field = object.find(name);
    return field && field->is_integer() ? field->integer() : 0;
}

std::vector<json::value> items_of(const json::value& object, std::string_view name)
{
    const auto field = object.find(name);
    return field && field->is_array() ? field->items() : std::vector<json::value>();
}

api_client::api_client(boost::asio::io_context& loop, const settings& chosen)
    : settings_(chosen),
      client_(loop, client_settings(chosen))
{}

std::string api_client::dashboard_url(std::string_view path) const
{
    return settings_.base_url + "/dashboard" + std::string(path);
}

double api_client::jitter()
{
    const auto byte = static_cast<unsigned char>(crypto::random_bytes(1).front());
    return 0.5 + byte / 510.0;
}

awaitable<attempt> api_client::send_once(api_call call, unsigned attempts_made)
{
    http::client_request outgoing;
    outgoing.method = call.method;
    outgoing.url = settings_.base_url + call.path;
    outgoing.deadline = call.timeout;
    // Sent again by `send`, which then knows what "not found" means.
    outgoing.may_repeat = call.method != "DELETE";
    outgoing.headers = {{"X-API-Key", settings_.api_key.reveal()},
                        {"Accept", call.accept},
                        {"User-Agent", "tempinbox-cli/" TEMPINBOX_VERSION}};
    if (!call.idempotency_key.empty())
        outgoing.headers.emplace_back("Idempotency-Key", call.idempotency_key);
    if (!call.body.empty())
        outgoing.headers.emplace_back("Content-Type", "application/json");
    outgoing.body = call.body;

    attempt made;
    made.response = co_await client_.send(std::move(outgoing));
    made.error = judge(made.response, settings_);
    made.may_have_worked = may_have_worked(made.response);
    made.retry_after = retry_delay(made.response, attempts_made + 1, jitter());
    // What was there a moment ago restarts perhaps; what never was there is the wrong address.
    if (was_reached_ && made.response.error == exchange_error::connect)
        made.retry_after = std::chrono::milliseconds(500);
    if (made.may_have_worked || made.response.status != 0)
        was_reached_ = true;
    co_return made;
}

awaitable<result<http::client_response>> api_client::send(api_call call, async::deadline until)
{
    if (call.method == "POST" && call.idempotency_key.empty())
        call.idempotency_key = uuid::make_v7().text();
    bool has_worked_perhaps = false;
    std::optional<failure> refused; // by the service, the last time
    for (unsigned attempts = 0;; ++attempts) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until.remaining());
        const bool has_little_time = left < call.timeout;
        call.timeout = std::min(call.timeout, std::max(left, min_timeout));
        attempt made = co_await send_once(call, attempts);
        // The request before this one deleted it; its answer was lost.
        if (call.method == "DELETE" && has_worked_perhaps && made.response.status == 404) {
            made.response.body.clear();
            co_return std::move(made.response);
        }
        if (!made.error)
            co_return std::move(made.response);
        // The request whose answer was lost is still under way, and its answer will be given again.
        if (call.method == "POST" && has_worked_perhaps && made.response.status == 409)
            made.retry_after = read_retry_after(made.response, system_clock_source().now());
        // What the service said before helps more.
        if (has_little_time && made.response.error == exchange_error::timeout && refused)
            co_return std::move(*refused);
        if (!made.retry_after || *made.retry_after >= until.remaining() ||
            is_day_used_up(made.response))
            co_return std::move(*made.error);
        if (made.response.status != 0)
            refused = std::move(made.error);
        has_worked_perhaps = has_worked_perhaps || made.may_have_worked;
        co_await wait_a_while(*made.retry_after);
    }
}

awaitable<result<json::value>> api_client::read(api_call call, async::deadline until)
{
    const bool is_deletion = call.method == "DELETE";
    auto response = co_await send(std::move(call), until);
    if (!response)
        co_return response.error();
    if (is_deletion && response->body.empty())
        co_return json::value::parse("{}");
    co_return read_object(*response, settings_);
}

awaitable<result<json::value>> api_client::read(api_call call)
{
    return read(std::move(call), async::deadline::after(usual_timeout));
}

} // namespace tempinbox::cli
