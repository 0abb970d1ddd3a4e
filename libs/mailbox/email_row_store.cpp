#include "mailbox/email_row_store.hpp"

#include "mailbox/columns.hpp"

namespace tempinbox::mailbox {

email_summary read_summary(const pqxx::row& row)
{
    int at = 0;
    email_summary email;
    email.id = email_id::parse(row[at++].c_str()).value();
    email.inbox = inbox_id::parse(row[at++].c_str()).value();
    email.sequence = row[at++].as<std::int64_t>();
    email.from = row[at++].as<std::string>();
    email.from_name = row[at++].as<std::string>();
    email.rcpt_to = from_array(row[at++].c_str());
    email.subject = row[at++].as<std::string>();
    email.preview = row[at++].as<std::string>();
    email.received_at = from_unix_micros(row[at++].as<std::int64_t>());
    email.size = row[at++].as<std::int64_t>();
    email.attachment_count = row[at++].as<int>();
    email.is_read = row[at++].as<bool>();
    if (const auto codes = row[at++]; !codes.is_null())
        email.codes = codes_from_json(codes.c_str());
    return email;
}

} // namespace tempinbox::mailbox
