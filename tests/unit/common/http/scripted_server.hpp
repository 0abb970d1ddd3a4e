#pragma once

#include "common/core/network.hpp"
#include "common/testing/await.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tempinbox::testing {

// The responses of one connection to its requests, in order; after the last one it closes unless it
// stays open. An empty response sends nothing.
struct script
{
    script(std::vector<std::string> given, bool open = true)
        : responses(std::move(given)),
          stays_open(open)
    {}
    std::vector<std::string> responses;
    bool stays_open;
};

// A server on the test loop that sends exactly what a test wants, well-formed or not. Each
// connection follows the next script.
class scripted_server
{
public:
    explicit scripted_server(std::vector<script> scripts);
    ~scripted_server();

    host_port address() const;
    std::string url(std::string_view path = "/") const
    {
        return "http://" + address().text() + std::string(path);
    }
    std::size_t connections() const;
    // Heads and bodies as they came.
    const std::vector<std::string>& requests() const;
    void close_connections();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::testing
