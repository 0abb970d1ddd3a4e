#include "common/outbox/outbox.hpp"

#include "common/postgres/parameters.hpp"

namespace tempinbox::outbox {
namespace {

constexpr std::string_view insert_rows =
    R"(.outbox (event_id, topic, key, sequence, headers, payload, owner, lease_until)
SELECT id, topic, key, sequence, headers, CASE WHEN length >= 0 THEN substring($6::bytea FROM start FOR length) END, $9,
       clock_timestamp() + interval '30 s'
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $7::int[], $8::int[])
     AS given(id, topic, key, sequence, headers, start, length))";

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
    std::vector<std::string> ids, topics, keys, headers;
    std::vector<std::int64_t> sequences;
    postgres::packed_bytes payloads;
    for (const auto& one : rows) {
        ids.push_back(one.id.text());
        topics.push_back(one.message.topic);
        keys.push_back(one.message.key);
        sequences.push_back(one.sequence);
        headers.push_back(to_text(one.message.headers));
        if (one.message.is_tombstone)
            payloads.add_null();
        else
            payloads.add(one.message.value);
    }
    using postgres::integer_array, postgres::text_array;
    const auto name = "insert_outbox_" + schema;
    tx.conn().prepare(name, "INSERT INTO " + schema + std::string(insert_rows));
    tx.exec_prepared0(name, text_array(ids), text_array(topics), text_array(keys),
                      integer_array(sequences), text_array(headers), payloads.bytes(),
                      payloads.starts(), payloads.lengths(), owner);
}

} // namespace tempinbox::outbox
