#pragma once

#include "common/core/errors.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::webhooks {

// The events that webhooks can announce (docs/api.md, "Webhooks").
enum class event_kind { email_received, inbox_created, inbox_expired };

inline constexpr event_kind all_event_kinds[] = {
    event_kind::email_received, event_kind::inbox_created, event_kind::inbox_expired};

// `email.received`: also the topic's name.
std::string_view to_string(event_kind kind);
result<event_kind> parse_event_kind(std::string_view text);

// A set of event kinds.
class event_set
{
public:
    constexpr event_set() = default;
    static constexpr event_set all() { return event_set{7}; }

    void add(event_kind kind) { bits_ |= bit(kind); }
    bool contains(event_kind kind) const { return (bits_ & bit(kind)) != 0; }
    bool empty() const { return bits_ == 0; }
    // In the order of the enum.
    std::vector<std::string> names() const;

    friend bool operator==(const event_set&, const event_set&) = default;

private:
    explicit constexpr event_set(unsigned bits) : bits_(bits) {}
    static constexpr unsigned bit(event_kind kind) { return 1U << static_cast<unsigned>(kind); }

    unsigned bits_ = 0;
};

// No names mean all kinds. Fails on an unknown name.
result<event_set> read_event_set(const std::vector<std::string>& names);

} // namespace tempinbox::webhooks
