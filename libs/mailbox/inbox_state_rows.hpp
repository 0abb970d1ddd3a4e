#pragma once

#include "common/outbox/outbox.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/types.hpp"

#include <pqxx/pqxx>

#include <vector>

namespace tempinbox::mailbox {

// Read from a row of mailbox.inboxes with the columns account_id, inbox_id, email_address, is_live,
// state_version, created, expires, expired (microseconds) and is_by_time. The inbox as far as its
// events show it:
inbox read_inbox_of_event(const pqxx::row& row);
ended_inbox read_ended_inbox(const pqxx::row& row); // of one that is not live
// The event of inbox.state for what the inbox is now, however long ago it became so.
outbox::row make_current_state_event(const pqxx::row& row);

// Deletes published rows of mailbox.outbox that `owner` still holds, for outbox::publisher. Of an
// inbox whose state changed again before its row was deleted, the record of the older state may
// stand behind that of the newer one, published by another process, and a compacted topic keeps the
// last record of a key. So it returns events of the states as they are now, to be published after
// both: of an inbox that was purged meanwhile, a tombstone. A row that another process has claimed
// stays: that one publishes it once more, and deletes it after that. The function throws as pqxx
// does.
outbox::row_remover remover_of_published(std::string owner);

} // namespace tempinbox::mailbox
