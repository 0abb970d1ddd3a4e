#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace tempinbox::testing {

inline runtime::process_settings traced_settings(std::string endpoint, double ratio)
{
    runtime::process_settings chosen;
    chosen.trace.endpoint = std::move(endpoint);
    chosen.trace.sampler.ratio = ratio;
    return chosen;
}

// A host with tracing on, and a loop that only runs inside `await` and `eventually`.
class traced_host : public runtime::host
{
public:
    explicit traced_host(double ratio = 1, std::string endpoint = "http://127.0.0.1:1/v1/traces")
        : traced_host(traced_settings(std::move(endpoint), ratio))
    {}
    explicit traced_host(runtime::process_settings chosen) : host("test", std::move(chosen)) {}

    template <class T>
    T await(awaitable<T> task)
    {
        std::optional<T> result;
        std::exception_ptr error;
        boost::asio::co_spawn(loop(), std::move(task), [&](std::exception_ptr thrown, T value) {
            error = thrown;
            result.emplace(std::move(value));
        });
        if (!eventually([&result] { return result.has_value(); }))
            throw std::runtime_error("traced_host::await: deadline passed");
        if (error)
            std::rethrow_exception(error);
        return std::move(*result);
    }

    // Runs the loop until the condition holds; false if the deadline passed first.
    bool eventually(const std::function<bool()>& condition)
    {
        const auto busy = boost::asio::make_work_guard(loop());
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            if (std::chrono::steady_clock::now() >= end)
                return false;
            loop().run_one_for(std::chrono::milliseconds(5));
        }
        return true;
    }

    // The finished spans, oldest first.
    std::vector<trace::span_record> take_spans() { return tracer().take(1'000); }
};

// An attribute's text; integers in decimal; `absent` without it.
inline std::string attribute(const trace::span_record& span, std::string_view key)
{
    for (const auto& [name, value] : span.attributes) {
        if (name != key)
            continue;
        if (const auto* text = std::get_if<std::string>(&value))
            return *text;
        if (const auto* number = std::get_if<std::int64_t>(&value))
            return std::to_string(*number);
        return "of another type";
    }
    return "absent";
}

} // namespace tempinbox::testing
