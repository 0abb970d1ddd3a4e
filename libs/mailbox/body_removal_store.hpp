#pragma once

#include "common/postgres/pool.hpp"

namespace tempinbox::mailbox {

// Takes the bodies of deleted emails from the disk, in the transaction that deleted them. `deleted` holds body_hour
// (microseconds), body_id and is_body_shared of each. A body that other emails still need stays. Answers how many went.
std::int64_t remove_bodies(pqxx::work& tx, const pqxx::result& deleted);

} // namespace tempinbox::mailbox
