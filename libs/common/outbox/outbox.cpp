#include "common/outbox/outbox.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"

namespace tempinbox::outbox {
namespace {

// A PostgreSQL array literal of text elements.
void append_element(std::string& array, std::string_view text)
{
    array += array.size() == 1 ? "\"" : ",\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            array.push_back('\\');
        array.push_back(c);
    }
    array.push_back('"');
}

} // namespace

std::string to_text(const kafka::header_list& headers)
{
    std::string text;
    for (const auto& [name, value] : headers)
        text += name + ": " + value + "\n";
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

// Payloads travel as one binary parameter with their lengths: bytea in text form would double them.
void insert(pqxx::work& tx, const std::string& schema, const std::string& owner, const std::vector<row>& rows)
{
    if (rows.empty())
        return;
    std::string ids = "{", topics = "{", keys = "{", sequences = "{", headers = "{", offsets = "{", lengths = "{", payloads;
    for (const auto& entry : rows) {
        append_element(ids, entry.id.text());
        append_element(topics, entry.message.topic);
        append_element(keys, entry.message.key);
        append_element(sequences, std::to_string(entry.sequence));
        append_element(headers, to_text(entry.message.headers));
        append_element(offsets, std::to_string(payloads.size() + 1));
        append_element(lengths, entry.message.is_tombstone ? std::string("-1") : std::to_string(entry.message.value.size()));
        if (!entry.message.is_tombstone)
            payloads += entry.message.value;
    }
    for (auto* array : {&ids, &topics, &keys, &sequences, &headers, &offsets, &lengths})
        array->push_back('}');
    tx.exec_params("INSERT INTO " + schema +
                       ".outbox (event_id, topic, key, sequence, headers, payload, owner, lease_until) "
                       "SELECT id, topic, key, sequence, headers, "
                       "CASE WHEN size < 0 THEN NULL ELSE substring($8::bytea FROM start FOR size) END, $9, clock_timestamp() + interval '30 s' "
                       "FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::int[]) "
                       "AS r (id, topic, key, sequence, headers, start, size)",
                   ids, topics, keys, sequences, headers, offsets, lengths, pqxx::binarystring(payloads), owner);
}

} // namespace tempinbox::outbox
