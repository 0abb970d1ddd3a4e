#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"

#include <string>
#include <vector>

namespace tempinbox::outbox {

// The rows that wait in <schema>.outbox.
struct backlog
{
    std::int64_t rows = 0; // counted up to 100,000
    double oldest_seconds = 0;
};

// The rows of <schema>.outbox, for the publisher; each call is a transaction of its own. Throws if
// PostgreSQL cannot be reached.
class outbox_repository
{
public:
    outbox_repository(postgres::pool& db, const std::string& schema, row_remover remover = {});

    // Up to `limit` rows whose lease has ended, under a new lease of `owner`, ordered by (key,
    // sequence). Others' claims are skipped.
    awaitable<std::vector<row>> claim(const std::string& owner, int limit);
    // Deletes published rows; returns what the remover wants to have published after them, written
    // as new rows of `owner` in the same transaction.
    awaitable<std::vector<row>> remove(const std::vector<event_id>& ids, const std::string& owner);
    awaitable<backlog> measure();

private:
    postgres::pool& db_;
    std::string schema_;
    row_remover remover_;
    std::string claim_sql_;
    std::string remove_sql_;
    std::string measure_sql_;
};

} // namespace tempinbox::outbox
