#include "common/trace/current.hpp"

namespace tempinbox::trace {
namespace {

thread_local std::shared_ptr<const context> the_current;

} // namespace

const std::shared_ptr<const context>& current()
{
    return the_current;
}

context current_or_new()
{
    return the_current ? *the_current : context(traceparent::make());
}

scope::scope(std::shared_ptr<const context> entered)
    : before_(std::exchange(the_current, std::move(entered)))
{}

scope::scope(const context& entered)
    : scope(entered.is_valid() ? std::make_shared<const context>(entered) : nullptr)
{}

scope::~scope()
{
    the_current = std::move(before_);
}

const context* context_of(const boost::asio::any_io_executor& executor)
{
    const auto* bound = executor.target<context_executor>();
    return bound ? bound->bound().get() : nullptr;
}

} // namespace tempinbox::trace
