#include "gateway/idempotency/idempotent_calls.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using claim_status = accounts::idempotency_claim::outcome;

constexpr std::size_t max_key_length = 255;
// A little less than the time after which another attempt may begin.
constexpr auto exclusive_for = 25s;
// Between full batches of the purge, so requests go first.
constexpr auto purge_batch_delay = 10ms;
constexpr auto purge_interval = 60s;

constexpr std::size_t max_batch = 100;
constexpr std::size_t max_batch_bytes = 1024 * 1024; // of responses; one always fits
constexpr async::batch_policy claim_policy{
    .max_in_flight = 2, .slow_after = 10ms, .max_items = max_batch};
constexpr async::batch_policy response_policy{
    .max_in_flight = 2, .slow_after = 10ms, .max_items = max_batch, .max_weight = max_batch_bytes};

std::optional<failure> check_key(std::string_view key)
{
    const bool is_printable =
        std::all_of(key.begin(), key.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
    if (!key.empty() && key.size() <= max_key_length && is_printable)
        return std::nullopt;
    return failure{errc::invalid_argument,
                   "Idempotency-Key must be 1 to 255 printable ASCII characters, not " +
                       quote(key)};
}

std::string query_of(const http::request& received)
{
    const auto mark = received.target.find('?');
    return mark == std::string::npos ? std::string() : received.target.substr(mark);
}

// Without the API key, the key is the account's.
accounts::idempotency_key key_of(const http::request& received, const caller& who)
{
    auto operation = received.method + " " + std::string(received.raw_path());
    if (who.owner_of_responses)
        operation += " " + who.owner_of_responses->text();
    accounts::idempotency_key key;
    key.account = who.account();
    key.operation_sha256 = crypto::sha256(operation);
    key.key = *received.header("Idempotency-Key");
    return key;
}

// A sealed response can be opened only in its own row.
std::string context_of(const accounts::idempotency_key& key)
{
    return "idempotency " + key.account.text() + " " + to_hex(key.operation_sha256) + " " + key.key;
}

http::response under_way()
{
    auto response =
        http::error_response(error_reason::idempotency_in_progress,
                             "A request with this Idempotency-Key is under way; try again");
    response.set("Retry-After", 1);
    return response;
}

} // namespace

bool takes_idempotency_key(const http::request& received, const route& operation)
{
    return received.method == "POST" && !operation.holds_password && !operation.calls_others &&
           received.header("Idempotency-Key");
}

// One call of the operation under a key.
struct idempotent_calls::attempt
{
    accounts::idempotency_key key;
    uuid object_id;
    bool is_first = false;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

    // This is the only attempt: there was no earlier one, and none can have begun meanwhile.
    bool is_only() const
    {
        return is_first && std::chrono::steady_clock::now() - began < exclusive_for;
    }
};

idempotent_calls::idempotent_calls(runtime::host& host, accounts::idempotency_repository& store,
                                   runtime::master_key_settings keys, std::int64_t max_stored)
    : store_(store),
      keys_(host, std::move(keys)),
      limit_(store, max_stored),
      claims_(host.executor(), claim_policy, "Idempotency-Keys not claimed",
              [&store](std::vector<accounts::claim_request> requests) {
                  return store.claim_all(std::move(requests));
              }),
      responses_(host.executor(), response_policy, "responses not stored for Idempotency-Keys",
                 [&store](std::vector<accounts::response_of_attempt> responses) {
                     return store.store_responses(std::move(responses));
                 }),
      purge_task_(host.executor(), host.metrics(), "purge_idempotency_keys",
                  [this] { return purge(); })
{}

awaitable<http::response> idempotent_calls::handle(http::request& received, caller& who,
                                                   const route& operation)
{
    if (const auto error = check_key(*received.header("Idempotency-Key")))
        co_return http::error_response(*error);
    const auto key = key_of(received, who);
    auto request_sha256 = crypto::sha256(query_of(received) + "\n" + received.body);

    attempt made;
    made.key = key;
    const auto claimed = co_await claim(key, std::move(request_sha256));
    switch (claimed.what) {
    case claim_status::proceed:
        break;
    case claim_status::replay:
        co_return replay(key, claimed.response);
    case claim_status::other_request:
        co_return co_await refuse_other(received, who, operation);
    case claim_status::in_progress:
        co_return under_way();
    case claim_status::limit_reached:
        co_return refuse_new(who);
    }
    made.object_id = claimed.object_id;
    made.is_first = claimed.is_first;
    who.chosen_id = claimed.object_id;
    co_return co_await call(received, who, operation.handle, std::move(made));
}

awaitable<accounts::idempotency_claim> idempotent_calls::claim(const accounts::idempotency_key& key,
                                                               std::string request_sha256)
{
    const auto reservation = co_await limit_.reserve(key.account);
    accounts::claim_request request{key, std::move(request_sha256), uuid::make_v7(),
                                    reservation != nullptr};
    auto claimed = co_await claims_.ask(std::move(request));
    if (!claimed || (!*claimed && claimed->error().code == errc::unavailable))
        throw dependency_error("an Idempotency-Key could not be claimed");
    if (!*claimed)
        throw std::runtime_error("an Idempotency-Key could not be claimed: " +
                                 claimed->error().message);
    if (reservation && (*claimed)->is_first)
        reservation->note_stored();
    co_return std::move(**claimed);
}

http::response idempotent_calls::refuse_new(const caller& who) const
{
    auto refused = http::error_response(
        error_reason::idempotency_limit,
        "This account has used " + std::to_string(limit_.max_keys()) +
            " Idempotency-Keys in 24 hours, and no more are stored; repeats of those are answered");
    refused.set("Retry-After", limit_.retry_after(who.account(), who.now).count());
    return refused;
}

// A 400 of the request itself comes before the 422.
awaitable<http::response> idempotent_calls::refuse_other(http::request& received, const caller& who,
                                                         const route& operation)
{
    if (operation.check) {
        auto checked = co_await operation.check(received, who);
        if (checked.status == 400)
            co_return checked;
    }
    co_return http::error_response(
        error_reason::idempotency_reused,
        "This Idempotency-Key was used for a request with another body; choose a new one");
}

awaitable<http::response> idempotent_calls::call(http::request& received, const caller& who,
                                                 const api_handler& handle, attempt made)
{
    http::response response;
    std::exception_ptr broken;
    try {
        response = co_await handle(received, who);
    } catch (...) {
        // Kept until the claim of the key is undone, which cannot be awaited here.
        broken = std::current_exception();
        response.status = 500;
    }
    try {
        co_await finish(made, response);
    } catch (const dependency_error& lost) {
        // The object was created all the same; a retry after 30 s repeats the call with the same id
        // and the same result.
        log::warning("response not stored for its Idempotency-Key", {{"error", lost.what()}});
    }
    if (broken)
        std::rethrow_exception(broken);
    co_return response;
}

// A refusal changed nothing, so the key is dropped. If an earlier attempt may have created the
// object, the id stays for the next attempt.
awaitable<void> idempotent_calls::finish(const attempt& made, const http::response& response)
{
    const bool is_refusal = response.status >= 400 && response.status < 500;
    if (is_refusal && made.is_only()) {
        limit_.note_dropped(made.key.account);
        return store_.drop(made.key, made.object_id);
    }
    if (response.status < 200 || response.status >= 300)
        return store_.release(made.key, made.object_id);
    accounts::stored_response stored;
    stored.status = static_cast<int>(response.status);
    stored.location = http::find_header(response.headers, "Location").value_or("");
    stored.content_type = http::find_header(response.headers, "Content-Type").value_or("");
    stored.sealed_body = keys_.current().seal(secret(response.body), context_of(made.key));
    return store({made.key, made.object_id, std::move(stored)});
}

awaitable<void> idempotent_calls::store(accounts::response_of_attempt finished)
{
    const auto stored = co_await responses_.ask(std::move(finished));
    if (!stored || !*stored)
        throw dependency_error("a response could not be stored for its Idempotency-Key");
}

http::response idempotent_calls::replay(const accounts::idempotency_key& key,
                                        const accounts::stored_response& stored) const
{
    const auto body = keys_.current().open(stored.sealed_body, context_of(key));
    if (!body)
        throw std::runtime_error("a stored response cannot be opened: " + body.error().message);
    http::response response(static_cast<unsigned>(stored.status), stored.content_type,
                            body->reveal());
    if (!stored.location.empty())
        response.set("Location", stored.location);
    response.set("Idempotency-Replayed", "true");
    return response;
}

awaitable<std::chrono::microseconds> idempotent_calls::purge()
{
    const int purged = co_await store_.purge();
    co_return purged == accounts::idempotency_repository::batch_size
        ? std::chrono::microseconds(purge_batch_delay)
        : std::chrono::microseconds(purge_interval);
}

} // namespace tempinbox::gateway
