#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::accounts {

// Whom an attempt counts against, and how many are allowed within the window.
struct attempt_subject
{
    std::string digest; // names stay out of the table
    int max_attempts = 0;

    attempt_subject(std::string_view kind, std::string_view name, int limit);
};

struct attempt_status
{
    bool is_allowed = true;
    std::chrono::seconds retry_after{0};
    std::string subject_digest; // if not allowed: the subject that reached its limit
};

// The attempts of the last ten minutes, over all replicas. An attempt is recorded before it is
// made, so that concurrent ones cannot pass the limit together; one that succeeds is taken back.
// Throws when PostgreSQL cannot be reached.
class attempt_store
{
public:
    static constexpr std::chrono::minutes window{10};
    static constexpr int batch_size = 1'000;

    explicit attempt_store(postgres::pool& db);

    // Records the attempt for each subject, or for none if one of them has reached its limit.
    awaitable<attempt_status> begin(uuid attempt, std::vector<attempt_subject> subjects);
    // The attempt succeeded: it counts against nobody.
    awaitable<void> take_back(uuid attempt, std::vector<attempt_subject> subjects);
    // Deletes every attempt counted against the subject.
    awaitable<void> reset(attempt_subject subject);
    // Purges up to batch_size attempts older than the window; returns how many.
    awaitable<int> purge();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
