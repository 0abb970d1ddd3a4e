#include "tempinboxctl/door_comparison.hpp"

#include <algorithm>
#include <set>

namespace tempinbox::ctl {
namespace {

constexpr std::size_t max_shown_ids = 100;
constexpr std::string_view mail_type = "email.received";
constexpr std::string_view end_type = "inbox.expired";

} // namespace

void door::add(const std::string& event_id, door_event came)
{
    auto& known = events_[event_id];
    known.event = std::move(came);
    ++known.count;
}

door_findings::door_findings(const std::vector<const door*>& doors, time_point from,
                             time_point until)
{
    std::map<std::string, door_event> all;
    std::set<std::string> ended;
    for (const auto* each : doors)
        for (const auto& [id, arrived] : each->events_) {
            if (arrived.event.type == end_type)
                ended.insert(arrived.event.inbox);
            if (arrived.event.time >= from && arrived.event.time < until)
                all.emplace(id, arrived.event);
        }
    for (const auto* each : doors) {
        door_finding found;
        found.door = each->name_;
        for (const auto& [id, event] : all) {
            const auto at = each->events_.find(id);
            if (at != each->events_.end()) {
                ++found.events;
                found.repeated += at->second.count > 1 ? 1 : 0;
                continue;
            }
            const bool shows_it = each->shows_ != door::shows::mail_now ||
                                  (event.type == mail_type && !ended.contains(event.inbox));
            if (shows_it)
                found.missing.push_back(id);
        }
        found.is_good = found.missing.empty() &&
                        (found.repeated == 0 || each->shows_ == door::shows::at_least_once);
        of_doors.push_back(std::move(found));
    }
}

bool door_findings::are_good() const
{
    return std::all_of(of_doors.begin(), of_doors.end(),
                       [](const door_finding& each) { return each.is_good; });
}

command_result to_result(const door_findings& found)
{
    std::vector<record> lines;
    for (const auto& each : found.of_doors) {
        const auto shown = std::min(each.missing.size(), max_shown_ids);
        const auto end = each.missing.begin() + static_cast<std::ptrdiff_t>(shown);
        lines.emplace_back()
            .add("door", each.door)
            .add("good", each.is_good)
            .add("events", each.events)
            .add("repeated", each.repeated)
            .add("missing", static_cast<std::int64_t>(each.missing.size()))
            .add("missingIds", std::vector<std::string>(each.missing.begin(), end));
    }
    command_result shown("doors", std::move(lines));
    shown.is_failure = !found.are_good();
    return shown;
}

} // namespace tempinbox::ctl
