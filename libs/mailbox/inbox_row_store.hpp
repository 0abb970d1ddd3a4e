#pragma once

#include "mailbox/types.hpp"

#include <pqxx/pqxx>

namespace tempinbox::mailbox {

// The columns of mailbox.inboxes that `read_inbox` reads; an ended inbox shows no mail.
inline constexpr const char* inbox_columns = R"(
    account_id, inbox_id, email_address, name, tags, metadata, is_live AND expires_at > now() AS lives,
    CASE WHEN is_live AND expires_at > now() THEN email_count ELSE 0 END, last_sequence, mailbox.to_micros(last_email_at),
    mailbox.to_micros(created_at), mailbox.to_micros(expires_at),
    mailbox.to_micros(coalesce(expired_at, CASE WHEN expires_at <= now() THEN expires_at END)),
    CASE WHEN is_live AND expires_at > now() THEN email_bytes ELSE 0 END)";

inbox read_inbox(const pqxx::row& row, int first_column = 0);

} // namespace tempinbox::mailbox
