#include "common/events/events.hpp"

#include "common/core/time.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace tempinbox;

namespace {

// A frozen record: `<topic>.<revision>.record` (tests/contract/README.md).
struct golden_record
{
    std::string name;
    int revision = 0;
    kafka::record record;
};

std::string from_hex(const std::string& digits)
{
    std::string bytes;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
        bytes.push_back(static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16)));
    return bytes;
}

golden_record read_golden(const std::filesystem::path& path)
{
    golden_record read;
    read.name = path.stem().string();
    const auto dot = read.name.rfind('.');
    read.revision = std::stoi(read.name.substr(dot + 1));
    read.record.topic = read.name.substr(0, dot);

    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line) && !line.empty()) {
        const auto colon = line.find(": ");
        const auto name = line.substr(0, colon);
        const auto value = line.substr(colon + 2);
        if (name == "key")
            read.record.key = value;
        else
            read.record.headers.emplace_back(name, value);
    }
    std::string digits;
    while (std::getline(file, line))
        digits += line;
    read.record.value = from_hex(digits);
    return read;
}

std::vector<golden_record> read_all_golden()
{
    std::vector<golden_record> found;
    for (const auto& entry : std::filesystem::directory_iterator(TEMPINBOX_GOLDEN_FOLDER))
        if (entry.path().extension() == ".record")
            found.push_back(read_golden(entry.path()));
    return found;
}

std::string header(const kafka::record& record, const char* name)
{
    return std::string(record.header(name).value_or(""));
}

trace::context cause_of(const kafka::record& record)
{
    return {trace::traceparent::parse(header(record, "traceparent")).value(),
            header(record, "tracestate")};
}

// The record as this code writes it: the event is read from the frozen one and made anew.
outbox::row make_again(const kafka::record& record)
{
    const auto id = event_id::parse(header(record, "ce_id")).value();
    const auto cause = cause_of(record);
    if (record.topic == events::topics::email_received)
        return events::make_row(events::read_email_received(record).value(), cause);
    if (record.topic == events::topics::inbox_created)
        return events::make_row(events::read_inbox_created(record).value(), id, cause);
    if (record.topic == events::topics::inbox_expired)
        return events::make_row(events::read_inbox_expired(record).value(), id, cause);
    events::v1::InboxState state;
    REQUIRE(record.topic == events::topics::inbox_state);
    REQUIRE(state.ParseFromString(record.value));
    return events::make_row(state, id, parse_iso8601(header(record, "ce_time")).value(), cause);
}

} // namespace

TEST_CASE("records of every release are read", "[events][contract]")
{
    const auto records = read_all_golden();
    REQUIRE(records.size() >= 7);

    for (const auto& golden : records) {
        INFO(golden.name);
        const auto envelope = events::read_envelope(golden.record);
        REQUIRE(envelope);
        CHECK(envelope->id.text() == header(golden.record, "ce_id"));
        CHECK(envelope->type == golden.record.topic);
        CHECK(to_iso8601(envelope->time) == header(golden.record, "ce_time"));
        REQUIRE(envelope->parent);
        // What was read says the same when it is written: nothing was dropped.
        CHECK(make_again(golden.record).message.value == golden.record.value);
    }
}

TEST_CASE("the newest record of every event is what the code writes", "[events][contract]")
{
    std::map<std::string, golden_record> newest;
    for (const auto& golden : read_all_golden())
        if (auto& known = newest[golden.record.topic]; known.revision < golden.revision)
            known = golden;
    REQUIRE(newest.size() == events::public_schemas().size());

    for (const auto& [topic, golden] : newest) {
        INFO(golden.name);
        const auto row = make_again(golden.record);
        CHECK(row.message.topic == topic);
        CHECK(row.message.key == golden.record.key);
        CHECK(row.message.value == golden.record.value);
        CHECK(row.message.headers == golden.record.headers);
    }
}
