#pragma once

#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

namespace tempinbox::mailbox {

// Whether live inboxes may need bodies of this hour or earlier ones, by mailbox.extended_inboxes.
bool may_need_bodies(pqxx::work& tx, time_point hour);

// Moves bodies of this hour and earlier ones that live inboxes need to the hour in which their
// inbox ends: a bounded number in one transaction, a shared body with all its emails. Skips inboxes
// that another transaction holds. True if it made progress: call it again.
bool move_needed_bodies(pqxx::work& tx, time_point hour);

} // namespace tempinbox::mailbox
