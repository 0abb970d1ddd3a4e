#pragma once

#include "common/core/time.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::json {

// Writes one JSON text front to back. Strings are made valid UTF-8 on the way; `take` ends it.
class writer
{
public:
    writer();
    ~writer();
    writer(writer&&) noexcept;

    writer& begin_object();
    writer& end_object();
    writer& begin_array();
    writer& end_array();
    writer& key(std::string_view name);

    writer& value(std::string_view text);
    writer& value(const char* text) { return value(std::string_view(text)); }
    writer& value(const std::string& text) { return value(std::string_view(text)); }
    writer& value(bool truth);
    writer& value(double number);
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    writer& value(T number)
    {
        return integer(static_cast<std::int64_t>(number));
    }
    // ISO 8601 with milliseconds.
    writer& value(time_point time);
    writer& null();
    // Inserts a JSON text unchanged; the caller guarantees that it is valid.
    writer& raw(std::string_view json_text);
    template <class T>
    writer& value(const std::optional<T>& maybe)
    {
        return maybe ? value(*maybe) : null();
    }
    template <class T>
    writer& value(const std::vector<T>& items)
    {
        begin_array();
        for (const auto& item : items)
            value(item);
        return end_array();
    }
    template <class T>
    writer& member(std::string_view name, const T& content)
    {
        key(name);
        return value(content);
    }
    writer& null_member(std::string_view name)
    {
        key(name);
        return null();
    }

    std::string take();

private:
    writer& integer(std::int64_t number);

    struct state;
    std::unique_ptr<state> state_;
};

} // namespace tempinbox::json
