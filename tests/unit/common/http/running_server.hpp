#pragma once

#include "common/http/server.hpp"
#include "common/testing/await.hpp"

namespace tempinbox::testing {

// A server on the test loop, drained at the end so that nothing of it outlives the test.
class running_server
{
public:
    explicit running_server(http::handler handle, http::server_settings settings = {})
        : server(test_host(), std::move(settings), std::move(handle))
    {
        server.start();
    }

    ~running_server()
    {
        server.stop();
        eventually([this] { return server.connections() == 0; });
    }

    host_port address() const { return server.local_address(); }
    std::string url(std::string_view path) const { return "http://" + address().text() + std::string(path); }

    http::server server;
};

} // namespace tempinbox::testing
