#pragma once

#include "common/core/awaitable.hpp"
#include "common/trace/traceparent.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace tempinbox::trace {

// The context that this thread works in at present; null without one. Log lines name it, and
// statements take it along to the thread that runs them.
const std::shared_ptr<const context>& current();
// That context's span; a new one that is not sampled where there is none.
context current_or_new();

// Sets the thread's context until its end.
class scope
{
public:
    explicit scope(std::shared_ptr<const context> entered);
    explicit scope(const context& entered);
    ~scope();
    scope(const scope&) = delete;

private:
    std::shared_ptr<const context> before_;
};

// Runs what it is given on another executor, within a context. A coroutine spawned on it resumes in
// that context, wherever it waits: a handler and all that it awaits know their request's trace,
// without an argument for it.
class context_executor
{
public:
    context_executor(boost::asio::any_io_executor inner, std::shared_ptr<const context> bound)
        : inner_(std::move(inner)),
          bound_(std::move(bound))
    {}

    const std::shared_ptr<const context>& bound() const { return bound_; }

    template <class Function>
    void execute(Function&& function) const
    {
        inner_.execute([bound = bound_, function = std::forward<Function>(function)]() mutable {
            const scope here(std::move(bound));
            std::move(function)();
        });
    }

    // Asio's executor properties are those of the executor inside.
    template <class Property>
        requires boost::asio::can_query_v<const boost::asio::any_io_executor&, Property>
    decltype(auto) query(const Property& property) const
    {
        return boost::asio::query(inner_, property);
    }
    template <class Property>
        requires boost::asio::can_require_v<const boost::asio::any_io_executor&, Property>
    context_executor require(const Property& property) const
    {
        return context_executor(boost::asio::require(inner_, property), bound_);
    }
    template <class Property>
        requires boost::asio::can_prefer_v<const boost::asio::any_io_executor&, Property>
    context_executor prefer(const Property& property) const
    {
        return context_executor(boost::asio::prefer(inner_, property), bound_);
    }

    friend bool operator==(const context_executor& a, const context_executor& b) noexcept
    {
        return a.inner_ == b.inner_ && a.bound_ == b.bound_;
    }

private:
    boost::asio::any_io_executor inner_;
    std::shared_ptr<const context> bound_;
};

// The context of coroutines on this executor; null without one.
const context* context_of(const boost::asio::any_io_executor& executor);

// Completes an operation whose handler is called directly, on the loop, in the context of the
// coroutine that waits for it.
template <class Handler, class... Results>
void resume(Handler&& handler, Results&&... results)
{
    const auto executor = boost::asio::get_associated_executor(handler);
    const auto* bound = executor.template target<context_executor>();
    if (!bound)
        return std::forward<Handler>(handler)(std::forward<Results>(results)...);
    const scope here(bound->bound());
    std::forward<Handler>(handler)(std::forward<Results>(results)...);
}

// Awaits `work` within a context. `executor` is the loop's.
template <class T>
awaitable<T> run_in(boost::asio::any_io_executor executor, context entered, awaitable<T> work)
{
    co_return co_await boost::asio::co_spawn(
        boost::asio::any_io_executor(context_executor(
            std::move(executor), std::make_shared<const context>(std::move(entered)))),
        std::move(work), boost::asio::use_awaitable);
}

} // namespace tempinbox::trace
