#pragma once

#include "common/core/time.hpp"
#include "tempinboxctl/command_result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Whether all ways to an account's events show the same ones (docs/events/which-door.md).
namespace tempinbox::ctl {

struct door_event
{
    std::string type; // email.received, inbox.created or inbox.expired
    std::string inbox;
    time_point time; // the event's own, the same at every door
};

// One way to the events: what came by it, and how often.
class door
{
public:
    enum class shows {
        at_least_once, // repeats are allowed
        once,
        mail_now // the emails that are there, in inboxes that have not ended
    };

    door(std::string name, shows what) : name_(std::move(name)), shows_(what) {}

    void add(const std::string& event_id, door_event came);
    // For a door that is read anew each time.
    void clear() { events_.clear(); }
    std::size_t size() const { return events_.size(); }

private:
    friend struct door_findings;

    struct arrival
    {
        door_event event;
        std::int64_t count = 0;
    };

    std::string name_;
    shows shows_;
    std::map<std::string, arrival> events_;
};

struct door_finding
{
    std::string door;
    std::int64_t events = 0;
    std::int64_t repeated = 0;        // events that came more than once
    std::vector<std::string> missing; // ids that another door has, in their order
    bool is_good = true;
};

// Of the events whose time is in [from, until); what lies beside may have come before a door was
// open. An email of an inbox whose end came by any door need not be listed any more.
struct door_findings
{
    door_findings(const std::vector<const door*>& doors, time_point from, time_point until);

    std::vector<door_finding> of_doors;

    bool are_good() const;
};

// A line for each door; a failure unless all are good.
command_result to_result(const door_findings& found);

} // namespace tempinbox::ctl
