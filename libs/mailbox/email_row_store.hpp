#pragma once

#include "mailbox/types.hpp"

#include <pqxx/pqxx>

namespace tempinbox::mailbox {

// The columns of mailbox.emails that `read_summary` reads; `codes` may be NULL if not asked for.
inline constexpr const char* summary_columns = R"(
    email_id, inbox_id, sequence, from_address, from_name, rcpt_to, subject, preview, mailbox.to_micros(received_at), size_bytes,
    attachment_count, is_read, codes)";
inline constexpr int summary_column_count = 13;

email_summary read_summary(const pqxx::row& row);

} // namespace tempinbox::mailbox
