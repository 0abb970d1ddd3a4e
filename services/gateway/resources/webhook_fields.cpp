#include "gateway/resources/webhook_fields.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

constexpr std::array<std::string_view, 3> event_kinds{"email.received", "inbox.created",
                                                      "inbox.expired"};

} // namespace

std::vector<std::string> all_events()
{
    return {event_kinds.begin(), event_kinds.end()};
}

std::optional<std::vector<std::string>> read_events(json::object_reader& body)
{
    const auto given = body.texts("events", event_kinds.size(), 1, 50);
    if (!given)
        return std::nullopt;
    if (given->empty())
        body.fail("events must name at least one of email.received, inbox.created, inbox.expired");
    std::vector<std::string> events;
    for (const auto& event : *given) {
        if (std::find(event_kinds.begin(), event_kinds.end(), event) == event_kinds.end())
            body.fail("events must hold only email.received, inbox.created, inbox.expired, not " +
                      quote(event));
        else if (std::find(events.begin(), events.end(), event) == events.end())
            events.push_back(event);
    }
    return events;
}

} // namespace tempinbox::gateway
