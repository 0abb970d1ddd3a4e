#include "common/http/resolve.hpp"

#include "common/async/reset_event.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::http {

namespace asio = boost::asio;

namespace {

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);

// Shared by the look-up and its caller, who may no longer wait.
struct lookup
{
    lookup(asio::io_context& loop, std::string host_name)
        : name(std::move(host_name)),
          done(loop.get_executor()),
          system(loop)
    {}

    std::string name;
    resolution found;
    async::reset_event done;
    asio::ip::tcp::resolver system;
};

awaitable<void> resolve_by_system(std::shared_ptr<lookup> shared)
{
    const std::string no_service;
    auto [error, entries] =
        co_await shared->system.async_resolve(shared->name, no_service, tuple_awaitable);
    if (error) {
        shared->found.cause = error;
        shared->found.error_text = "the host name does not resolve: " + error.message();
        co_return;
    }
    for (const auto& entry : entries)
        shared->found.addresses.push_back(entry.endpoint().address());
}

awaitable<void> look_up(std::shared_ptr<lookup> shared, resolver custom_resolver)
{
    try {
        if (custom_resolver)
            shared->found.addresses = co_await custom_resolver(shared->name);
        else
            co_await resolve_by_system(shared);
    } catch (const boost::system::system_error& error) {
        // A name that does not resolve is a value to the client, whatever the resolver throws.
        shared->found.cause = error.code();
        shared->found.error_text = std::string("the host name does not resolve: ") + error.what();
    } catch (const std::exception& error) {
        shared->found.error_text = std::string("the host name does not resolve: ") + error.what();
    }
    if (shared->found.addresses.empty() && shared->found.error_text.empty())
        shared->found.error_text = "the host name has no address";
    shared->found.is_finished = true;
    shared->done.set();
}

} // namespace

awaitable<resolution> resolve(asio::io_context& loop, const resolver& custom_resolver,
                              std::string name, std::chrono::steady_clock::time_point deadline)
{
    const auto shared = std::make_shared<lookup>(loop, std::move(name));
    asio::co_spawn(loop, look_up(shared, custom_resolver), asio::detached);
    co_await shared->done.wait_until(deadline);
    co_return std::move(shared->found);
}

} // namespace tempinbox::http
