#pragma once

#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::mailbox {

// The body of a deleted email.
struct left_body
{
    std::int64_t hour = 0; // of its partition, in microseconds
    body_id id;
    bool is_shared = false;
};

// Reads columns body_micros, body_id and is_body_shared.
std::vector<left_body> read_left_bodies(const pqxx::result& deleted);

// Deletes the bodies of deleted emails, in the transaction that deleted the emails. A body that
// other emails still need stays. Returns the number deleted.
std::int64_t remove_bodies(pqxx::work& tx, const std::vector<left_body>& left);

} // namespace tempinbox::mailbox
