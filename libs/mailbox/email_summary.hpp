#pragma once

#include "common/core/ids.hpp"
#include "common/core/literal.hpp"
#include "common/core/time.hpp"
#include "common/postgres/binary_array.hpp"
#include "extract/codes.hpp"
#include "mime/view.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tempinbox::mailbox {

// An email as lists show it.
struct email_summary
{
    email_id id;
    inbox_id inbox;
    std::int64_t sequence = 0;
    std::string from; // the first address of From, or the envelope sender
    std::string from_name;
    std::vector<mime::email_address> to; // of the header
    std::vector<std::string> rcpt_to;    // of its inbox, as given
    std::string subject;
    std::string preview;
    time_point received_at;
    std::int64_t size = 0;
    int attachment_count = 0;
    bool is_read = false;
    std::vector<extract::code> codes;
};

// One field of a summary: its column in the view mailbox.email_summaries, its name in the Protobuf
// message inbox.v1.EmailSummary, and its member.
template <class T>
struct summary_field
{
    const char* column;
    const char* name;
    T email_summary::* member;
};

// All of them. What is selected, read and answered derives from it; a field of the message that is
// not here does not compile, and a test looks for one that is only here.
inline constexpr std::tuple summary_fields{
    summary_field{"email_id", "email_id", &email_summary::id},
    summary_field{"inbox_id", "inbox_id", &email_summary::inbox},
    summary_field{"sequence", "sequence", &email_summary::sequence},
    summary_field{"from_address", "from", &email_summary::from},
    summary_field{"from_name", "from_name", &email_summary::from_name},
    summary_field{"to_addresses", "to", &email_summary::to},
    summary_field{"rcpt_to", "recipients", &email_summary::rcpt_to},
    summary_field{"subject", "subject", &email_summary::subject},
    summary_field{"preview", "preview", &email_summary::preview},
    summary_field{"received_at", "received_at", &email_summary::received_at},
    summary_field{"size_bytes", "size_bytes", &email_summary::size},
    summary_field{"attachment_count", "attachment_count", &email_summary::attachment_count},
    summary_field{"is_read", "is_read", &email_summary::is_read},
    summary_field{"codes", "codes", &email_summary::codes},
};
inline constexpr int summary_field_count =
    static_cast<int>(std::tuple_size_v<decltype(summary_fields)>);

// Calls `visit` with each field in its order.
template <class Visit>
constexpr void for_each_summary_field(Visit visit)
{
    std::apply([&](const auto&... field) { (visit(field), ...); }, summary_fields);
}

// The member whose name in the message is `Name`.
template <literal Name, std::size_t Index = 0>
constexpr const auto& summary_value(const email_summary& email)
{
    static_assert(Index < summary_field_count, "summary_fields lacks a field of EmailSummary");
    constexpr auto field = std::get<Index>(summary_fields);
    if constexpr (Name.text() == field.name)
        return email.*field.member;
    else
        return summary_value<Name, Index + 1>(email);
}

// What a message brings to the rows of mailbox.emails, one for each inbox that it reaches.
struct message_columns
{
    body_id body;
    std::string sha256;
    std::int64_t size = 0;
    time_point received_at;
    std::string from;
    std::string from_name;
    std::string subject;
    std::string preview;
    std::optional<std::string> message_id;
    std::string header_addresses; // JSON
    std::string mail_from;
    std::string remote_address;
    std::string helo;
    std::optional<std::string> tls;
    int attachment_count = 0;
    std::string codes; // JSON
    std::string links; // JSON
    std::vector<std::string> defects;
    std::optional<std::string> login; // the user, of a message sent with one

    // The fields of the type mailbox.new_message, in their order.
    auto fields() const
    {
        return std::tuple_cat(
            std::tie(body, size, received_at, from, from_name, subject, preview, message_id,
                     mail_from, remote_address, helo, tls, attachment_count, codes, links, defects),
            std::tuple(postgres::bytea{sha256}), std::tie(header_addresses, login));
    }
};

} // namespace tempinbox::mailbox
