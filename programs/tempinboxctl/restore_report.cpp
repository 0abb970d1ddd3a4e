#include "tempinboxctl/restore_report.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

std::string text_of(step_status status)
{
    switch (status) {
    case step_status::ok:
        return "ok";
    case step_status::todo:
        return "todo";
    case step_status::done:
        return "done";
    case step_status::manual:
        return "manual";
    }
    return "";
}

std::string padded(std::string text, std::size_t width)
{
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

std::string line_of(const restore_step& one)
{
    return padded(text_of(one.is), 6) + "  " + padded(one.step, 13) + "  " +
           padded(std::to_string(one.count), 9) + "  " + one.message + "\n";
}

std::string line_of(const std::string& group, const kafka::group_position& one)
{
    return "offset  " + group + "  " + one.topic + "/" + std::to_string(one.partition) + "  from " +
           std::to_string(one.committed) + " to " + std::to_string(one.at_time) + "\n";
}

std::string line_of(const published_end& one)
{
    return "end     " + one.inbox.text() + "  " + one.address + "  " + one.reason + " at " +
           to_iso8601(one.expired_at) + ", published as " + one.event.text() + "\n";
}

record to_record(const restore_step& one)
{
    record fields;
    fields.add("status", text_of(one.is))
        .add("step", one.step)
        .add("count", one.count)
        .add("message", one.message);
    return fields;
}

record to_record(const kafka::group_position& one)
{
    record fields;
    fields.add("topic", one.topic)
        .add("partition", std::int64_t{one.partition})
        .add("committed", one.committed)
        .add("offset", one.at_time);
    return fields;
}

record to_record(const published_end& one)
{
    record fields;
    fields.add("inboxId", one.inbox.text())
        .add("emailAddress", one.address)
        .add("reason", one.reason)
        .add_time("expiredAt", one.expired_at)
        .add("eventId", one.event.text());
    return fields;
}

template <class T>
std::vector<record> to_records(const std::vector<T>& all)
{
    std::vector<record> records;
    records.reserve(all.size());
    for (const auto& one : all)
        records.push_back(to_record(one));
    return records;
}

} // namespace

std::vector<kafka::group_position> positions_to_reset(std::vector<kafka::group_position> found)
{
    std::erase_if(found,
                  [](const kafka::group_position& one) { return one.at_time >= one.committed; });
    return found;
}

bool needs_settling(const restore_signs& signs)
{
    return !signs.is_settled && (signs.timeline > 1 || signs.published_version > signs.version);
}

command_result to_result(const restore_report& report)
{
    record fields;
    fields.add("restoreId", report.restore_id)
        .add_time("moment", report.moment)
        .add("steps", to_records(report.steps))
        .add("group", report.group)
        .add("offsets", to_records(report.offsets))
        .add("ends", to_records(report.ends));
    command_result shown(std::move(fields));

    std::string text = "restore " + report.restore_id + " to " +
                       (report.moment ? to_iso8601(*report.moment) : "an unknown moment") + "\n";
    for (const auto& one : report.steps)
        text += line_of(one);
    for (const auto& one : report.offsets)
        text += line_of(report.group, one);
    for (const auto& one : report.ends)
        text += line_of(one);
    shown.text = std::move(text);
    shown.is_failure = report.is_unsettled;
    return shown;
}

} // namespace tempinbox::ctl
