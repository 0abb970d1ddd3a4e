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

// The statements of the publisher; each is a transaction of its own.
class outbox_repository
{
public:
    outbox_repository(postgres::pool& db, const std::string& schema);

    // Up to `limit` rows whose lease has ended, under a new lease of `owner`, ordered by (key,
    // sequence). Others' claims are skipped.
    awaitable<std::vector<row>> claim(const std::string& owner, int limit);
    awaitable<void> remove(const std::vector<std::string>& ids);
    awaitable<backlog> measure();

private:
    postgres::pool& db_;
    std::string claim_sql_;
    std::string remove_sql_;
    std::string measure_sql_;
};

} // namespace tempinbox::outbox
