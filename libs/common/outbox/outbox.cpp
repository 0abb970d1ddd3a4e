#include "common/outbox/outbox.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::outbox {
namespace {

constexpr std::string_view insert_rows =
    R"(.outbox (event_id, account_id, topic, key, sequence, headers, payload, owner, lease_until)
SELECT id, account, topic, key, sequence, headers, payload, $8,
       clock_timestamp() + interval '30 s'
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bytea[])
     AS event(id, account, topic, key, sequence, headers, payload))";

// A header's line ends at its line break, so a value must not hold one.
std::string on_one_line(std::string value)
{
    std::replace_if(
        value.begin(), value.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; },
        ' ');
    return value;
}

} // namespace

std::string to_text(const kafka::header_list& headers)
{
    std::string text;
    for (const auto& [name, value] : headers)
        text += name + ": " + on_one_line(value) + "\n";
    return text;
}

kafka::header_list headers_from_text(std::string_view text)
{
    kafka::header_list headers;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto colon = line.find(": ");
        if (colon != std::string_view::npos)
            headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    return headers;
}

void insert(pqxx::work& tx, const std::string& schema, const std::string& owner,
            const std::vector<row>& rows)
{
    if (rows.empty())
        return;
    std::vector<event_id> ids;
    std::vector<account_id> accounts;
    std::vector<std::string> topics, keys, headers;
    std::vector<std::int64_t> sequences;
    std::vector<std::optional<postgres::bytea>> payloads;
    for (const auto& one : rows) {
        ids.push_back(one.id);
        accounts.push_back(one.account);
        topics.push_back(one.message.topic);
        keys.push_back(one.message.key);
        sequences.push_back(one.sequence);
        headers.push_back(to_text(one.message.headers));
        if (one.message.is_tombstone)
            payloads.emplace_back();
        else
            payloads.emplace_back(postgres::bytea{one.message.value});
    }
    using postgres::to_array;
    const auto name = "insert_outbox_" + schema;
    postgres::session_of(tx).define(name, "INSERT INTO " + schema + std::string(insert_rows));
    postgres::exec_prepared0(tx, name, to_array(ids), to_array(accounts), to_array(topics),
                             to_array(keys), to_array(sequences), to_array(headers),
                             to_array(payloads), owner);
}

} // namespace tempinbox::outbox
