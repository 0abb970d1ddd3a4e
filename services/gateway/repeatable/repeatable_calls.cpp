#include "gateway/repeatable/repeatable_calls.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using verdict = accounts::idempotency_claim::verdict;

constexpr std::size_t longest_key = 255;
// Between full batches of forgetting: requests go first.
constexpr auto breath = 10ms;
constexpr auto between_looks = 60s;

std::optional<failure> key_problem(std::string_view key)
{
    const bool is_printable = std::all_of(key.begin(), key.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
    if (!key.empty() && key.size() <= longest_key && is_printable)
        return std::nullopt;
    return failure{errc::invalid_argument, "Idempotency-Key must be 1 to 255 printable ASCII characters, not " + quote(key)};
}

std::string query_of(const http::request& received)
{
    const auto mark = received.target.find('?');
    return mark == std::string::npos ? std::string() : received.target.substr(mark);
}

accounts::idempotency_key key_of(const http::request& received, const caller& who)
{
    accounts::idempotency_key key;
    key.account = who.account();
    key.operation_sha256 = crypto::sha256(received.method + " " + std::string(received.raw_path()));
    key.key = *received.header("Idempotency-Key");
    return key;
}

// A sealed answer opens only in its own row.
std::string context_of(const accounts::idempotency_key& key)
{
    return "idempotency " + key.account.text() + " " + to_hex(key.operation_sha256) + " " + key.key;
}

bool is_kept(unsigned status)
{
    return (status >= 200 && status < 300) || (status >= 400 && status < 500 && status != 401 && status != 429);
}

http::response under_way()
{
    auto answer = http::problem(409, "A request with this Idempotency-Key is under way; try again");
    answer.set("Retry-After", 1);
    return answer;
}

} // namespace

repeatable_calls::repeatable_calls(runtime::host& host, accounts::idempotency_store& store, const crypto::keyring& keys)
    : store_(store),
      keys_(keys),
      forgetting_(host, "old idempotency keys not forgotten", [this] { return forget(); })
{}

awaitable<http::response> repeatable_calls::answer(http::request& received, caller& who, const route& operation)
{
    if (const auto problem = key_problem(*received.header("Idempotency-Key")))
        co_return http::problem(*problem);
    const auto key = key_of(received, who);
    auto request_sha256 = crypto::sha256(query_of(received) + "\n" + received.body);

    const auto claimed = co_await store_.claim(key, std::move(request_sha256), uuid::make_v7());
    switch (claimed.what) {
    case verdict::go:
        break;
    case verdict::replay:
        co_return replay(key, claimed.answer);
    case verdict::other_request:
        co_return co_await refuse_other(received, who, operation);
    case verdict::under_way:
        co_return under_way();
    }
    who.chosen_id = claimed.object_id;
    co_return co_await call(received, who, operation.handle, key);
}

// What is wrong with the request itself is told first.
awaitable<http::response> repeatable_calls::refuse_other(http::request& received, const caller& who, const route& operation)
{
    if (operation.check) {
        auto checked = co_await operation.check(received, who);
        if (checked.status == 400)
            co_return checked;
    }
    co_return http::problem(422, "This Idempotency-Key was used for a request with another body; choose a new one");
}

awaitable<http::response> repeatable_calls::call(http::request& received, const caller& who, const api_handler& handle,
                                                 const accounts::idempotency_key& key)
{
    http::response answer;
    std::exception_ptr broken;
    try {
        answer = co_await handle(received, who);
    } catch (...) {
        broken = std::current_exception();
        answer.status = 500;
    }
    try {
        co_await keep_or_release(key, *who.chosen_id, answer);
    } catch (const dependency_error& lost) {
        // The object is made all the same; a repeat in 30 s makes it again, to the same end.
        log::warning("an answer could not be kept for its Idempotency-Key", {{"error", lost.what()}});
    }
    if (broken)
        std::rethrow_exception(broken);
    co_return answer;
}

awaitable<void> repeatable_calls::keep_or_release(const accounts::idempotency_key& key, uuid object_id,
                                                  const http::response& answer)
{
    if (!is_kept(answer.status))
        return store_.release(key, object_id);
    accounts::kept_answer kept;
    kept.status = static_cast<int>(answer.status);
    kept.location = http::find_header(answer.headers, "Location").value_or("");
    kept.content_type = http::find_header(answer.headers, "Content-Type").value_or("");
    kept.sealed_body = keys_.seal(secret(answer.body), context_of(key));
    return store_.keep(key, object_id, std::move(kept));
}

http::response repeatable_calls::replay(const accounts::idempotency_key& key, const accounts::kept_answer& kept) const
{
    const auto body = keys_.open(kept.sealed_body, context_of(key));
    if (!body)
        throw std::runtime_error("a kept answer cannot be opened: " + body.error().message);
    http::response answer(static_cast<unsigned>(kept.status), kept.content_type, body->reveal());
    if (!kept.location.empty())
        answer.set("Location", kept.location);
    answer.set("Idempotency-Replayed", "true");
    return answer;
}

awaitable<std::chrono::microseconds> repeatable_calls::forget()
{
    const int forgotten = co_await store_.forget();
    co_return forgotten == accounts::idempotency_store::batch_size ? std::chrono::microseconds(breath)
                                                                   : std::chrono::microseconds(between_looks);
}

} // namespace tempinbox::gateway
