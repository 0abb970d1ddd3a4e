#pragma once

#include "cli/settings.hpp"
#include "common/async/deadline.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/http/client.hpp"
#include "common/json/value.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::cli {

// Percent-encoded, for a path or a query.
std::string encode_component(std::string_view text);

// `?from=a&after=3`; absent values are left out.
class query
{
public:
    query& add(std::string_view name, const std::optional<std::string>& value);
    query& add(std::string_view name, const std::optional<std::int64_t>& value);
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

struct api_call
{
    std::string method = "GET";
    std::string path; // behind the base URL, encoded, with its query
    std::string body = {};
    std::string accept = "application/json";
    std::chrono::milliseconds timeout{30'000}; // of one request
    std::string idempotency_key = {};
};

// One request and what became of it.
struct attempt
{
    http::client_response response;
    std::optional<failure> error; // of the request, or the service's refusal, with what to do
    bool may_have_worked = false;
    std::optional<std::chrono::milliseconds> retry_after; // it may be sent again, then
};

// What went wrong, in a sentence that says what to do. Absent for 2xx.
std::optional<failure> judge(const http::client_response& response, const settings& chosen);

// Whether it is refused until the next UTC day: more than a command waits for unasked.
bool is_day_used_up(const http::client_response& response);

// Calls of the API. What fails is a value; requests are sent again as retry_delay says, never past
// the deadline nor once the day's are used up, and what makes something under one Idempotency-Key.
class api_client
{
public:
    api_client(boost::asio::io_context& loop, const settings& chosen);

    const settings& chosen() const { return settings_; }
    std::string dashboard_url(std::string_view path) const;

    // Once.
    awaitable<attempt> send_once(api_call call, unsigned attempts_made = 0);
    awaitable<result<http::client_response>> send(api_call call, async::deadline until);
    // The JSON object that it answers.
    awaitable<result<json::value>> read(api_call call, async::deadline until);
    // With the usual deadline.
    awaitable<result<json::value>> read(api_call call);

private:
    double jitter();

    const settings& settings_;
    http::client client_;
    bool was_reached_ = false;
};

// The JSON object of a response; unavailable if it is none.
result<json::value> read_object(const http::client_response& response, const settings& chosen);

// The text of a field; empty if there is none.
std::string text_of(const json::value& object, std::string_view name);
// The number of a field; 0 if there is none.
std::int64_t integer_of(const json::value& object, std::string_view name);
// The items of a list; empty if there is none.
std::vector<json::value> items_of(const json::value& object, std::string_view name);

} // namespace tempinbox::cli
