#pragma once

#include "mailbox/email_summary.hpp"
#include "mailbox/types.hpp"

#include <pqxx/pqxx>

#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// The select list of a summary, over a row of mailbox.emails. Codes are only read on the condition,
// if one is given.
std::string summary_columns(std::string_view condition_of_codes = "");

// Reads a summary, whose columns are the first of the row.
email_summary read_summary(const pqxx::row& row);

// Reads body_id, body_micros and size_bytes.
message_location read_message_location(account_id account, const pqxx::row& row);

} // namespace tempinbox::mailbox
