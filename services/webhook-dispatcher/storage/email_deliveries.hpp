#pragma once

#include "webhook-dispatcher/storage/logged_delivery.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/postgres/pool.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// Of an email; of the rules, those that matched come first.
inline constexpr int max_email_deliveries = 100;
inline constexpr int max_email_rules = 100;
inline constexpr int max_email_attempts = 10; // of each delivery

// What a rule said about an email when it came.
struct named_rule_match
{
    rule_match match;
    std::optional<std::string> name; // of today; absent: the rule was deleted
};

// One request of an email's delivery and its result.
struct email_attempt
{
    int number = 0;
    time_point at;
    std::chrono::milliseconds took{0};
    int status = 0; // 0: no status line came
    std::string error;
};

// An email's delivery to one webhook, with its newest attempts, oldest first.
struct email_delivery
{
    webhook_id webhook;
    std::optional<std::string> url; // of today; absent: the webhook was deleted
    delivery_status status = delivery_status::pending;
    time_point created_at;
    std::optional<time_point> next_attempt_at;
    std::string reason; // why it failed
    std::vector<rule_id> rules;
    std::vector<email_attempt> attempts;
};

// What became of an email: its rules in their order, its deliveries in the order they were made.
struct email_deliveries
{
    std::vector<named_rule_match> rules;
    std::vector<email_delivery> deliveries;
    bool is_truncated = false; // there is more than is shown
};

// To be called by the repository whose statement the function below runs.
void prepare_email_deliveries(postgres::pool& db);

// By one statement. Empty if nothing of the email is stored, or it is another account's.
email_deliveries read_email_deliveries(pqxx::transaction_base& tx, account_id account,
                                       event_id email);

} // namespace tempinbox::webhooks
