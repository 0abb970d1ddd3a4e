#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/server.hpp"
#include "common/testing/await.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::testing {

// A webhook receiver on loopback: records its requests and answers as scripted, 200 otherwise.
class receiver
{
public:
    struct scripted_response
    {
        unsigned status = 200;
        std::string body;
        http::header_list headers;
        std::chrono::milliseconds delay{0};

        scripted_response() = default;
        explicit scripted_response(unsigned code, std::string text = {})
            : status(code),
              body(std::move(text))
        {}
    };

    receiver()
        : server_(test_host(), http::server_settings{},
                  [this](http::request& request) { return handle(request); })
    {
        server_.start();
    }
    ~receiver()
    {
        server_.stop();
        await(server_.drain(std::chrono::milliseconds(500)));
    }
    receiver(const receiver&) = delete;

    std::string url(const std::string& path = "/hook") const
    {
        return "http://" + server_.local_address().text() + path;
    }
    // The next requests get these, in order; later ones the default.
    void respond_with(std::vector<scripted_response> responses)
    {
        responses_ = {responses.begin(), responses.end()};
    }
    void respond_always(scripted_response given) { default_ = std::move(given); }

    const std::vector<http::request>& requests() const { return requests_; }
    bool got(std::size_t count, std::chrono::milliseconds deadline = std::chrono::seconds(10))
    {
        return eventually([&] { return requests_.size() >= count; }, deadline);
    }

private:
    awaitable<http::response> handle(http::request& request)
    {
        requests_.push_back(request);
        scripted_response chosen = default_;
        if (!responses_.empty()) {
            chosen = responses_.front();
            responses_.pop_front();
        }
        if (chosen.delay.count() != 0) {
            boost::asio::steady_timer timer(test_host().loop(), chosen.delay);
            // Nobody waits for the answer any more, at the end of the test at the latest.
            request.on_hang_up = [&timer] { timer.cancel(); };
            co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
            request.on_hang_up = nullptr;
        }
        http::response response(chosen.status, "text/plain", chosen.body);
        for (const auto& [name, value] : chosen.headers)
            response.set(name, value);
        co_return response;
    }

    std::vector<http::request> requests_;
    std::deque<scripted_response> responses_;
    scripted_response default_;
    http::server server_;
};

} // namespace tempinbox::testing
