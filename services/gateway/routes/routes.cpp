#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway {
namespace {

std::string name_of(std::string_view method, std::string_view pattern)
{
    return std::string(method) + " " + std::string(pattern);
}

// The router only matches: the pipeline makes its checks between the match and the call.
awaitable<http::response> never_called(http::request&)
{
    throw std::logic_error("an operation was called past the pipeline");
    co_return http::response();
}

} // namespace

routes::routes(std::vector<route> operations) : operations_(std::move(operations))
{
    for (const auto& operation : operations_) {
        by_name_.emplace(name_of(operation.method, operation.pattern), &operation);
        const auto& first = *by_pattern_.try_emplace(operation.pattern, &operation).first->second;
        if (operation.entry != first.entry)
            throw std::logic_error("the operations of a path are entered in different ways: " +
                                   operation.pattern);
        router_.add(operation.method, operation.pattern, never_called);
    }
}

routes::match routes::find(const http::request& received) const
{
    match found;
    found.path = router_.find(received);
    if (const auto path = by_pattern_.find(found.path.pattern); path != by_pattern_.end())
        found.entry = path->second->entry;
    if (!found.path.handle)
        return found;
    const auto own = by_name_.find(name_of(received.method, found.path.pattern));
    const auto entry =
        own != by_name_.end() ? own : by_name_.find(name_of("GET", found.path.pattern));
    if (entry != by_name_.end())
        found.operation = entry->second;
    return found;
}

} // namespace tempinbox::gateway
