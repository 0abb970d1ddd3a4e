#pragma once

#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

namespace tempinbox::mailbox {

// Whether live inboxes may need bodies of this hour or of earlier ones: mailbox.extended_inboxes
// names them.
bool may_need_bodies(pqxx::work& tx, time_point hour);

// Moves bodies of this hour and of earlier ones that live inboxes need to the hour in which their
// inbox ends, a bounded number in one transaction; a shared one for all its emails. Inboxes that
// another transaction holds are passed over. Answers whether it got on: then there may be more.
bool move_needed_bodies(pqxx::work& tx, time_point hour);

} // namespace tempinbox::mailbox
