#include "common/trace/current.hpp"

#include "unit/common/trace/traced_host.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

std::string here()
{
    return trace::current() ? trace::current()->span.text() : "none";
}

// What it works in before and after it waits, and what its executor is bound to.
awaitable<std::vector<std::string>> look(runtime::host& host)
{
    std::vector<std::string> seen;
    seen.push_back(here());
    boost::asio::steady_timer timer(host.loop(), std::chrono::milliseconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    seen.push_back(here());
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto* bound = trace::context_of(executor);
    seen.push_back(bound ? bound->span.text() : "none");
    co_return seen;
}

// Two requests on one loop, each in its own context, and then neither.
awaitable<std::vector<std::string>> look_twice(runtime::host& host, trace::context first,
                                               trace::context second)
{
    auto seen = co_await trace::run_in(host.executor(), first, look(host));
    for (auto& one : co_await trace::run_in(host.executor(), second, look(host)))
        seen.push_back(std::move(one));
    boost::asio::steady_timer timer(host.loop(), std::chrono::milliseconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    seen.push_back(here());
    co_return seen;
}

awaitable<int> fail_later(runtime::host& host)
{
    boost::asio::steady_timer timer(host.loop(), std::chrono::milliseconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    throw std::runtime_error("a bug");
    co_return 0;
}

} // namespace

TEST_CASE("a coroutine keeps its context wherever it waits", "[trace]")
{
    testing::traced_host host;
    const trace::context first(trace::traceparent::make()), second(trace::traceparent::make());

    const auto seen = host.await(look_twice(host, first, second));

    const auto one = first.span.text(), two = second.span.text();
    CHECK(seen == std::vector<std::string>{one, one, one, two, two, two, "none"});
}

TEST_CASE("an exception passes through a context", "[trace]")
{
    testing::traced_host host;

    CHECK_THROWS_WITH(
        host.await(trace::run_in(host.executor(), trace::context(trace::traceparent::make()),
                                 fail_later(host))),
        "a bug");
}

TEST_CASE("a scope ends where its object does", "[trace]")
{
    const trace::context outer(trace::traceparent::make()), inner(trace::traceparent::make());
    {
        const trace::scope entered(outer);
        {
            const trace::scope deeper(inner);
            CHECK(here() == inner.span.text());
        }
        CHECK(here() == outer.span.text());
        CHECK(trace::current_or_new().span == outer.span);
    }
    CHECK(here() == "none");
    CHECK_FALSE(trace::current_or_new().span.is_sampled());
}
