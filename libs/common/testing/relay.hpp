#pragma once

#include "common/core/network.hpp"

#include <cstddef>
#include <memory>

namespace tempinbox::testing {

// A TCP relay on loopback in front of a real server, to take the server away and bring it back.
// Runs on its own thread.
class relay
{
public:
    explicit relay(const host_port& target);
    ~relay();
    relay(const relay&) = delete;

    host_port address() const;
    // Resets every connection and closes new ones at once, like a killed server.
    void cut();
    // Keeps connections open and accepts new ones, but passes nothing, like a server that hangs.
    void freeze();
    // Accepts new connections and passes what they sent when it is restored, like a server that is
    // slow to answer.
    void hold();
    std::size_t held() const; // connections that wait for `restore`
    void restore();

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace tempinbox::testing
