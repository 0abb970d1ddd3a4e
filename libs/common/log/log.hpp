#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace tempinbox::log {

enum class level { debug, info, warning, error };

// One event field: snake_case name and a value. Values are copied when the line is written, not
// before.
struct field
{
    std::string_view name;
    std::variant<std::string_view, std::int64_t, double, bool> value;

    field(std::string_view field_name, std::string_view text) : name(field_name), value(text) {}
    field(std::string_view field_name, const std::string& text)
        : name(field_name),
          value(std::string_view(text))
    {}
    field(std::string_view field_name, const char* text)
        : name(field_name),
          value(std::string_view(text))
    {}
    field(std::string_view field_name, bool truth) : name(field_name), value(truth) {}
    field(std::string_view field_name, double number) : name(field_name), value(number) {}
    template <class T>
        requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
    field(std::string_view field_name, T number)
        : name(field_name),
          value(static_cast<std::int64_t>(number))
    {}
};

// Called once, by runtime::run, before the first line: sets who writes.
void start(std::string_view service, std::string_view version, std::string_view instance,
           level min_level);
void set_level(level min_level);

// How many lines of a class are written: none, those within the limit on repeats, all.
enum class volume { none, sampled, all };
// What was accepted, refused or changed, for whom (`audit`); HTTP requests (`access`).
enum class line_class { audit, access };
void set_volume(line_class which, volume chosen);
bool writes(line_class which);
std::optional<volume> parse_volume(std::string_view name);
std::optional<level> parse_level(std::string_view name);
// Called last, by runtime::run: writes the queued lines.
void finish();

// Writes one JSON object a line to standard output: ts, level, msg, service, version, instance,
// trace_id and span_id where the thread works in a trace's context, then the fields. Control
// characters are escaped. Thread-safe, and never waits for a slow reader of standard output: a
// separate thread writes, and past 8,192 queued lines the oldest are dropped. Before `start` lines
// are written at once. If a message repeats more than 20 times a second, further lines are dropped
// and counted in `suppressed` of the next one.
void write(level severity, std::string_view message, std::initializer_list<field> fields = {});

// Lines that were not written since the start: repeats, and those that the queue had no room for.
std::uint64_t dropped_lines();

// A line of a class, at level info.
void write(line_class which, std::string_view message, std::initializer_list<field> fields);

inline void audit(std::string_view message, std::initializer_list<field> fields)
{
    write(line_class::audit, message, fields);
}
inline void debug(std::string_view message, std::initializer_list<field> fields = {})
{
    write(level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<field> fields = {})
{
    write(level::info, message, fields);
}
inline void warning(std::string_view message, std::initializer_list<field> fields = {})
{
    write(level::warning, message, fields);
}
inline void error(std::string_view message, std::initializer_list<field> fields = {})
{
    write(level::error, message, fields);
}

} // namespace tempinbox::log
