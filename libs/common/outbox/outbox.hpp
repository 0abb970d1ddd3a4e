#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/kafka/producer.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::outbox {

// An event to publish: a row of <schema>.outbox, written in the transaction of the change it tells
// of. Every schema that publishes has the table
//   outbox(event_id uuid primary key, topic text, key text, sequence bigint, headers text, payload
//   bytea null, owner text, lease_until timestamptz,
//          created_at timestamptz), headers as `name: value` lines, payload null for a tombstone.
struct row
{
    event_id id;
    std::int64_t sequence = 0; // orders rows of one key
    kafka::message message;
};

// Writes rows owned by `owner` with a lease of 30 s, in one statement. Call it inside the
// transaction of the change.
void insert(pqxx::work& tx, const std::string& schema, const std::string& owner,
            const std::vector<row>& rows);

// `name: value` lines and back: the form of the headers column.
std::string to_text(const kafka::header_list& headers);
kafka::header_list headers_from_text(std::string_view text);

// Publishes the outbox of one schema: at once what this process committed, or in steps of 20 to 100
// ms where that is more than 100 events a second (publish_linger; bounded queue; what does not fit,
// or is not acknowledged in 20 s, it forgets), and by a sweep of rows whose lease has ended, taken
// in batches with a new lease; no transaction is open while publishing. Acknowledged rows are
// deleted in batches. At least once, in order of (key, sequence) as far as one process can.
class publisher
{
public:
    publisher(runtime::host& host, postgres::pool& db, kafka::producer& producer,
              std::string schema);
    ~publisher();
    publisher(const publisher&) = delete;

    // Spawns the deleter and the sweeper.
    void start();
    // After the commit, on the loop.
    void publish(std::vector<row> committed);
    // Waits for what is queued, deletes what was acknowledged.
    awaitable<void> drain(std::chrono::milliseconds timeout);

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::outbox
