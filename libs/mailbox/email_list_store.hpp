#pragma once

#include "mailbox/email_store.hpp"

namespace tempinbox::mailbox {

// The lists of email_store.
void prepare_email_lists(postgres::pool& db);
result<email_page> list_emails(pqxx::transaction_base& tx, const email_query& query);

} // namespace tempinbox::mailbox
