#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/kafka/producer.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::outbox {

// An event to publish: a row of <schema>.outbox, written in the transaction of the change that it
// reports. Every schema that publishes has the table outbox(event_id uuid, account_id uuid, topic
// text, key text, sequence bigint, headers text, payload bytea null, owner text, lease_until
// timestamptz, created_at timestamptz, primary key (event_id, account_id)), with headers as
// `name: value` lines and a null payload for a tombstone.
struct row
{
    event_id id;
    account_id account;        // whom the event is about
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

// Deletes published rows in a transaction, and returns rows to publish after them: what a newer
// event of another process may have overtaken (mailbox/inbox_state_rows.hpp).
using row_remover =
    std::function<std::vector<row>(pqxx::work& tx, const std::vector<event_id>& published)>;

// Publishes the outbox of one schema. Events that this process committed go out at once, or in
// batches every 20 to 100 ms above 100 events a second (publish_linger). The producer's queue is
// bounded: an event that does not fit, or is not acknowledged in 20 s, is left to the sweep. The
// sweep claims rows whose lease has ended, in batches under a new lease; no transaction is open
// while publishing. Acknowledged rows are deleted in batches. At least once, in order of (key,
// sequence) as far as one process can.
class publisher
{
public:
    // `remover`: a plain DELETE without it. `sweep_interval`: from the end of a sweep that left
    // nothing to the next.
    publisher(runtime::host& host, postgres::pool& db, kafka::producer& producer,
              std::string schema, row_remover remover = {},
              std::chrono::milliseconds sweep_interval = std::chrono::seconds(1));
    ~publisher();
    publisher(const publisher&) = delete;

    // Spawns the deleter and the sweeper.
    void start();
    // Call it after the commit, on the loop. `hints` go out before the events of their step, and
    // nobody asks what became of them: for readers that find out by themselves a little later.
    void publish(std::vector<row> committed, std::vector<kafka::message> hints = {});
    // Waits for the queued events, then deletes the acknowledged rows.
    awaitable<void> drain(std::chrono::milliseconds timeout);

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::outbox
