#pragma once

#include <boost/describe/class.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tempinbox::plans {

// The limits of a plan, kept in accounts.plans and listed in docs/reference/plans.md. Zero: none;
// for requests_per_day and burst_per_second: unlimited.
// A limit is said here, in PlanLimits of account_state.proto, in the schema of accounts, and, if
// the API shows it, in docs/openapi.yaml. All else derives from it:
// docs/decisions/0016-one-description.md.
struct plan_limits
{
    bool api_access = false;
    std::int64_t requests_per_day = 0;
    int burst_per_second = 0;
    int live_inboxes = 1;
    std::chrono::seconds default_ttl{3'600};
    std::chrono::seconds max_ttl{3'600};
    std::int64_t max_message_bytes = 5 * 1024 * 1024;
    int webhooks = 0;
    int api_keys = 0;
    int routing_rules = 0;
    // Absent: the state was written by a release that had no such limit. That is not zero: it gives
    // nothing new and ends nothing that is there.
    std::optional<int> captures;
    std::optional<int> catch_alls;

    friend bool operator==(const plan_limits&, const plan_limits&) = default;
};
BOOST_DESCRIBE_STRUCT(plan_limits, (),
                      (api_access, requests_per_day, burst_per_second, live_inboxes, default_ttl,
                       max_ttl, max_message_bytes, webhooks, api_keys, routing_rules, captures,
                       catch_alls))

// Who is shown a limit: the operator who looks at a plan; who looks at an account, too; the account
// itself, too, through the API and the dashboard.
enum class audience { plan, account, api };

// What a limit's type does not say. The name is that of its column and of its Protobuf field: the
// member's, of a duration with `_seconds`. The bounds are those of `tempinboxctl plan set`.
struct limit_facts
{
    std::string_view name;
    const char* meaning;
    std::int64_t min;
    std::int64_t max;
    audience shown_to;
};

inline constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
// The same bound as in mail-ingest: a message that is read back must fit into one response between
// services (rpc::client: 64 MiB).
inline constexpr std::int64_t max_message_size = 60LL << 20;

// What requests count against on a plan without a daily limit, which nobody reaches: gateways send
// it to rate-limit in place of a limit of 0. It is also the greatest number a plan can have, so no
// plan allows more than unlimited. Rate-limit keeps the number it was sent for the rest of the day,
// and answers it to gateways of every release that an upgrade runs side by side. Two numbers for
// the same version of an account would be two limits in turn, so this one never changes.
inline constexpr std::int64_t unlimited_requests_per_day = 1'000'000'000'000;

// In the order of the members.
inline constexpr limit_facts facts_of_limits[] = {
    {"api_access", "whether API keys give access to the API", 0, 1, audience::account},
    {"requests_per_day", "requests a day; 0: unlimited", 0, unlimited_requests_per_day,
     audience::api},
    {"burst_per_second", "requests a second; 0: unlimited", 0, int_max, audience::api},
    {"live_inboxes", "live inboxes at a time", 0, int_max, audience::api},
    {"default_ttl_seconds", "lifetime of an inbox created without one", 60, 31'622'400,
     audience::plan},
    {"max_ttl_seconds", "maximum lifetime of an inbox", 60, 31'622'400, audience::api},
    {"max_message_bytes", "maximum message size", 1'024, max_message_size, audience::api},
    {"webhooks", "webhook endpoints", 0, 10'000, audience::api},
    {"api_keys", "active API keys", 0, 10'000, audience::api},
    {"routing_rules", "active routing rules", 0, 10'000, audience::api},
    {"captures", "inboxes with a login", 0, 10'000, audience::api},
    {"catch_alls", "subdomains held", 0, 10'000, audience::api},
};

// One limit as those use it that treat all alike: SQL, Protobuf, JSON, the command line. Durations
// are numbers of seconds, truths 0 or 1.
struct limit : limit_facts
{
    bool is_truth = false;
    bool (*is_known)(const plan_limits& limits) = nullptr;
    // 0 for one that is not known.
    std::int64_t (*get)(const plan_limits& limits) = nullptr;
    void (*set)(plan_limits& limits, std::int64_t number) = nullptr;

    std::string json_name() const;   // maxTtlSeconds
    std::string option_name() const; // max-ttl-seconds
};

// In the order of the members.
std::span<const limit> all_limits();

} // namespace tempinbox::plans
