#pragma once

#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::mailbox {

// What a deleted email leaves behind.
struct left_body
{
    std::int64_t hour = 0; // of its partition, in microseconds
    body_id id;
    bool is_shared = false;
};

// From rows that begin with body_hour (microseconds), body_id and is_body_shared.
std::vector<left_body> read_left_bodies(const pqxx::result& deleted);

// Takes the bodies of deleted emails from the disk, in the transaction that deleted them. A body
// that other emails still need stays. Answers how many went.
std::int64_t remove_bodies(pqxx::work& tx, const std::vector<left_body>& left);

} // namespace tempinbox::mailbox
