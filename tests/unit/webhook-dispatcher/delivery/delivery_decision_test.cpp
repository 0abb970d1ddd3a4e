#include "webhook-dispatcher/delivery/delivery_decision.hpp"

#include "webhook-dispatcher/delivery/schedule.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using namespace std::chrono_literals;
using kind = exchange_result::kind;
using step = delivery_decision::step;

namespace {

attempt_facts attempt(int number)
{
    attempt_facts facts;
    facts.event = event_id::make();
    facts.webhook = webhook_id::make();
    facts.number = number;
    facts.now = *parse_iso8601("2026-03-01T12:00:00Z");
    facts.delivery_began = facts.now;
    return facts;
}

exchange_result response(unsigned status)
{
    exchange_result result;
    result.status = status;
    return result;
}

exchange_result failing(kind what, unsigned status = 0)
{
    exchange_result result;
    result.what = what;
    result.status = status;
    result.detail = "detail";
    return result;
}

void check_scheduled(const exchange_result& result, double weight)
{
    for (int number = 1; number < attempt_limit; ++number) {
        const auto facts = attempt(number);
        const auto given = judge(result, facts);
        CHECK(given.is_failure);
        CHECK(given.next == step::retry);
        CHECK(given.wait == jittered_wait(facts.event, facts.webhook, number + 1));
        CHECK(given.breaker_weight == weight);
        CHECK(given.disables_endpoint.empty());
    }
    CHECK(judge(result, attempt(attempt_limit)).next == step::exhaust);
}

// As check_scheduled, but at least a minute from the third attempt on.
void check_scheduled_slowly(const exchange_result& result, double weight)
{
    const auto first = attempt(1), second = attempt(2), fourth = attempt(4);

    CHECK(judge(result, first).wait == jittered_wait(first.event, first.webhook, 2));
    CHECK(judge(result, second).wait == 60s);
    CHECK(judge(result, fourth).wait == jittered_wait(fourth.event, fourth.webhook, 5));
    CHECK(judge(result, first).breaker_weight == weight);
    CHECK(judge(result, attempt(attempt_limit)).next == step::exhaust);
}

} // namespace

TEST_CASE("every 2xx is a success", "[webhooks][delivery_decision]")
{
    for (const unsigned status : {200U, 201U, 202U, 204U, 299U}) {
        const auto given = judge(response(status), attempt(1));
        CHECK(given.next == step::succeed);
        CHECK_FALSE(given.is_failure);
        CHECK(given.breaker_weight == 0);
    }
}

TEST_CASE("a body that is too large or malformed after a 2xx status line is a success",
          "[webhooks][delivery_decision]")
{
    const auto given = judge(failing(kind::cut_short, 200), attempt(1));

    CHECK(given.next == step::succeed);
    CHECK(given.error == "detail");
}

TEST_CASE("a body that is cut short after a failing status is that failure",
          "[webhooks][delivery_decision]")
{
    check_scheduled(failing(kind::cut_short, 500), 1);
}

TEST_CASE("a time-out is a failure even after a 2xx status line", "[webhooks][delivery_decision]")
{
    CHECK(judge(failing(kind::timed_out, 200), attempt(1)).next == step::retry);
}

TEST_CASE("redirects are retried and said not to be followed", "[webhooks][delivery_decision]")
{
    for (const unsigned status : {301U, 302U, 303U, 307U, 308U}) {
        check_scheduled(response(status), 0);
        CHECK(judge(response(status), attempt(1)).error == "redirects are not followed");
    }
}

TEST_CASE("client errors are retried and weigh half on the breaker",
          "[webhooks][delivery_decision]")
{
    for (const unsigned status : {400U, 401U, 403U, 404U, 405U, 413U, 415U, 422U})
        check_scheduled(response(status), 0.5);
}

TEST_CASE("408, 425 and server errors weigh whole on the breaker", "[webhooks][delivery_decision]")
{
    for (const unsigned status : {408U, 425U, 500U, 501U, 505U, 599U})
        check_scheduled(response(status), 1);
}

TEST_CASE("429 and overloaded servers get at least a minute from the third attempt on",
          "[webhooks][delivery_decision]")
{
    check_scheduled_slowly(response(429), 0);
    for (const unsigned status : {502U, 503U, 504U})
        check_scheduled_slowly(response(status), 1);
}

TEST_CASE("time-outs get at least a minute from the third attempt on",
          "[webhooks][delivery_decision]")
{
    check_scheduled_slowly(failing(kind::timed_out), 1);
}

TEST_CASE("410 ends the delivery and switches the webhook off", "[webhooks][delivery_decision]")
{
    const auto given = judge(response(410), attempt(1));

    CHECK(given.next == step::abort);
    CHECK(given.is_failure);
    CHECK(given.disables_endpoint == "it answered 410 Gone");
}

TEST_CASE("410 counts by its status line, whatever happens to the body",
          "[webhooks][delivery_decision]")
{
    CHECK(judge(failing(kind::cut_short, 410), attempt(1)).disables_endpoint ==
          "it answered 410 Gone");
    CHECK(judge(failing(kind::timed_out, 410), attempt(1)).next == step::retry);
}

TEST_CASE("jitter of the schedule stays within 0.8 and 1.2, of Retry-After it only adds",
          "[webhooks][delivery_decision]")
{
    auto requested = response(500);
    requested.retry_after = "3600";
    for (int i = 0; i < 500; ++i) {
        const auto plain = judge(response(500), attempt(3)).wait;
        CHECK(plain >= base_wait(4) * 8 / 10 - 1ms);
        CHECK(plain <= base_wait(4) * 12 / 10);
        const auto later = judge(requested, attempt(3)).wait;
        CHECK(later >= 1h);
        CHECK(later <= 72min);
    }
}

TEST_CASE("Retry-After counts with any failure that has an answer", "[webhooks][delivery_decision]")
{
    for (const unsigned status : {301U, 400U, 404U, 408U, 422U, 429U, 500U, 503U}) {
        auto result = response(status);
        result.retry_after = "1800";
        const auto given = judge(result, attempt(1));
        CHECK(given.next == step::retry);
        CHECK(given.wait >= 30min);
        CHECK(given.wait <= 36min);
    }
    auto accepted = response(202);
    accepted.retry_after = "1800";
    CHECK(judge(accepted, attempt(1)).next == step::succeed);
}

TEST_CASE("failures of name, connection and TLS are retried on schedule",
          "[webhooks][delivery_decision]")
{
    for (const auto what : {kind::no_such_host, kind::connect_failed, kind::tls_failed,
                            kind::closed, kind::malformed}) {
        check_scheduled(failing(what), 1);
        CHECK(judge(failing(what), attempt(1)).error == "detail");
    }
}

TEST_CASE("our own failures park the delivery for 5 to 30 s and spend no attempt",
          "[webhooks][delivery_decision]")
{
    for (const auto what : {kind::resolver_failed, kind::network_down}) {
        for (const int number : {1, 5, attempt_limit}) {
            const auto given = judge(failing(what), attempt(number));
            CHECK(given.next == step::park);
            CHECK(given.wait >= 5s);
            CHECK(given.wait <= 30s);
            CHECK(given.breaker_weight == 0);
        }
    }
}

TEST_CASE(
    "a refused address ends the delivery, switches the webhook off and does not say the address",
    "[webhooks][delivery_decision]")
{
    const auto given = judge(failing(kind::refused_address), attempt(1));

    CHECK(given.next == step::abort);
    CHECK(given.disables_endpoint ==
          "its address is private or reserved, which webhooks may not use");
}

TEST_CASE("Retry-After is kept between the schedule and twice of it or two hours",
          "[webhooks][delivery_decision]")
{
    struct row
    {
        const char* given;
        int number;
        std::chrono::milliseconds min, max;
    };
    const row rows[] = {
        {"1", 1, 5s, 6s},            // below the schedule: the schedule
        {"3600", 1, 1h, 72min},      // within: as requested, jitter only adds
        {"86400", 1, 2h, 144min},    // above: two hours
        {"864000", 8, 48h, 58h},     // above, late: twice the schedule
        {"3600", 6, 6h, 7h + 12min}, // below a later schedule
    };
    for (const auto& row : rows) {
        auto result = response(500);
        result.retry_after = row.given;
        const auto given = judge(result, attempt(row.number));
        CHECK(given.next == step::retry);
        CHECK(given.wait >= row.min);
        CHECK(given.wait <= row.max);
    }
}

TEST_CASE("Retry-After as a date counts from now", "[webhooks][delivery_decision]")
{
    auto result = response(503);
    result.retry_after = "Sun, 01 Mar 2026 12:30:00 GMT";

    const auto given = judge(result, attempt(1));

    CHECK(given.wait >= 30min);
    CHECK(given.wait <= 36min);
}

TEST_CASE("a Retry-After that cannot be read leaves the schedule", "[webhooks][delivery_decision]")
{
    auto result = response(500);
    result.retry_after = "when it suits you";
    const auto facts = attempt(1);

    CHECK(judge(result, facts).wait == jittered_wait(facts.event, facts.webhook, 2));
}

TEST_CASE("everything ends at seven days", "[webhooks][delivery_decision]")
{
    auto facts = attempt(5);
    facts.delivery_began = facts.now - delivery_lifetime + 1s;

    CHECK(judge(response(500), facts).next == step::exhaust);
    CHECK(judge(failing(kind::resolver_failed), facts).next == step::exhaust);
    CHECK(judge(response(200), facts).next == step::succeed);
}
