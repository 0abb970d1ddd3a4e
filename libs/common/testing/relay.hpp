#pragma once

#include "common/core/network.hpp"

#include <memory>

namespace tempinbox::testing {

// A TCP relay on loopback in front of a real server, to take the server away and give it back. Runs
// on a thread of its own.
class relay
{
public:
    explicit relay(const host_port& target);
    ~relay();
    relay(const relay&) = delete;

    host_port address() const;
    // Every connection is reset, new ones are closed at once: a server that was killed.
    void cut();
    // Connections stay open and new ones are accepted, but nothing passes: a server that stands
    // still.
    void freeze();
    void restore();

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace tempinbox::testing
