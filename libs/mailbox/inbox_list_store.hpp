#pragma once

#include "mailbox/inbox_store.hpp"

namespace tempinbox::mailbox {

// The lists of inbox_store.
void prepare_inbox_lists(postgres::pool& db);
result<page<inbox>> list_inboxes(pqxx::transaction_base& tx, account_id account,
                                 const inbox_filter& filter, int limit, const std::string& cursor);

} // namespace tempinbox::mailbox
