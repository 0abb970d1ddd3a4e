#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::accounts {

// For whom an attempt counts, and how many there may be in the window.
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
    std::string subject_digest; // where it is not allowed: who has had the number
};

// What was tried in the last ten minutes, on all replicas. An attempt is written down before it is
// made, so that many at once cannot pass the limit together; what succeeds is taken back. Throws
// when PostgreSQL cannot be reached.
class attempt_store
{
public:
    static constexpr std::chrono::minutes window{10};
    static constexpr int batch_size = 1'000;

    explicit attempt_store(postgres::pool& db);

    // Writes the attempt down for each subject, or for none where one of them has had its number.
    awaitable<attempt_status> begin(uuid attempt, std::vector<attempt_subject> subjects);
    // The attempt succeeded: it counts for nobody.
    awaitable<void> take_back(uuid attempt, std::vector<attempt_subject> subjects);
    // Nothing that was counted for the subject counts any more.
    awaitable<void> reset(attempt_subject subject);
    // Up to batch_size that are past the window; answers how many.
    awaitable<int> purge();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
