#include "common/config/reader.hpp"

#include "common/config/units.hpp"
#include "common/core/text.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>

namespace tempinbox::config {
namespace {

std::string range(const std::string& min, const std::string& max)
{
    return min + " to " + max;
}

} // namespace

std::string reader::take(std::string_view name, std::string fallback, std::string_view meaning,
                         std::string allowed)
{
    const auto given = values_.find(std::string(name));
    std::string value = given == values_.end() ? fallback : given->second;
    const auto same = [name](const setting& known) { return known.name == name; };
    if (std::none_of(declared_.begin(), declared_.end(), same))
        declared_.push_back({std::string(name), std::move(fallback), std::string(meaning),
                             std::move(allowed), false, false});
    return value;
}

void reader::add_problem(std::string_view name, std::string_view what)
{
    problems_.push_back("--" + std::string(name) + " (" + environment_name(name) + ") " +
                        std::string(what));
}

void reader::mark_secret(std::string_view name)
{
    for (auto& known : declared_)
        known.is_secret = known.is_secret || known.name == name;
}

void reader::mark_hidden(std::string_view name)
{
    mark_secret(name);
    for (auto& known : declared_)
        known.is_hidden = known.is_hidden || known.name == name;
}

void reader::add_memory(std::string_view what, std::optional<std::uint64_t> bytes)
{
    memory_bounds_.push_back({std::string(what), bytes});
}

std::string reader::text(std::string_view name, std::string_view fallback, std::string_view meaning)
{
    return take(name, std::string(fallback), meaning, "");
}

std::string reader::required_text(std::string_view name, std::string_view meaning)
{
    auto value = take(name, "", meaning, "required");
    if (value.empty())
        add_problem(name, "must be given");
    return value;
}

bool reader::flag(std::string_view name, bool fallback, std::string_view meaning)
{
    const auto value =
        take(name, fallback ? "true" : "false", meaning, std::string(allowed_truths));
    const auto truth = parse_truth(value);
    if (!truth)
        add_problem(name, "must be true or false, not " + quote(value));
    return truth.value_or(fallback);
}

std::int64_t reader::integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                             std::int64_t max, std::string_view meaning)
{
    const auto allowed = range(std::to_string(min), std::to_string(max));
    const auto value = take(name, std::to_string(fallback), meaning, allowed);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size() && number >= min &&
        number <= max)
        return number;
    add_problem(name, "must be an integer from " + allowed + ", not " + quote(value));
    return fallback;
}

std::chrono::milliseconds reader::duration(std::string_view name,
                                           std::chrono::milliseconds fallback,
                                           std::chrono::milliseconds min,
                                           std::chrono::milliseconds max, std::string_view meaning)
{
    const auto allowed = range(to_text(min), to_text(max));
    const auto value = take(name, to_text(fallback), meaning, allowed);
    const auto time = parse_duration(value);
    if (time && *time >= min && *time <= max)
        return *time;
    add_problem(name, "must be a time such as 250ms, 5s, 10m, 24h or 7d, from " + allowed +
                          ", not " + quote(value));
    return fallback;
}

std::uint64_t reader::bytes(std::string_view name, std::uint64_t fallback, std::uint64_t min,
                            std::uint64_t max, std::string_view meaning)
{
    const auto allowed = range(bytes_to_text(min), bytes_to_text(max));
    const auto value = take(name, bytes_to_text(fallback), meaning, allowed);
    const auto size = parse_bytes(value);
    if (size && *size >= min && *size <= max)
        return *size;
    add_problem(name, "must be a size such as 65536, 64KiB, 25MiB or 1GiB, from " + allowed +
                          ", not " + quote(value));
    return fallback;
}

host_port reader::address(std::string_view name, std::string_view fallback,
                          std::string_view meaning)
{
    const auto value = take(name, std::string(fallback), meaning, "host:port");
    auto parsed = host_port::parse(value);
    if (parsed)
        return *parsed;
    add_problem(name, parsed.error().message);
    parsed = host_port::parse(fallback);
    return parsed ? *parsed : host_port();
}

template <class T, class Parse>
std::vector<T> reader::take_list(std::string_view name, std::string_view fallback,
                                 std::string_view meaning, std::string allowed, Parse parse)
{
    std::vector<T> items;
    for (const auto& piece :
         split_list(take(name, std::string(fallback), meaning, std::move(allowed)))) {
        auto parsed = parse(piece);
        if (parsed)
            items.push_back(std::move(*parsed));
        else
            add_problem(name, parsed.error().message);
    }
    return items;
}

std::vector<host_port> reader::addresses(std::string_view name, std::string_view fallback,
                                         std::string_view meaning)
{
    const auto problems_before = problems_.size();
    auto found = take_list<host_port>(name, fallback, meaning, "host:port, comma-separated",
                                      &host_port::parse);
    if (found.empty() && problems_.size() == problems_before)
        add_problem(name, "must name at least one host:port");
    return found;
}

std::vector<std::string> reader::list(std::string_view name, std::string_view fallback,
                                      std::string_view meaning)
{
    return split_list(take(name, std::string(fallback), meaning, "comma-separated"));
}

std::vector<network> reader::networks(std::string_view name, std::string_view fallback,
                                      std::string_view meaning)
{
    return take_list<network>(name, fallback, meaning,
                              "networks such as 10.0.0.0/8, comma-separated", &network::parse);
}

std::string reader::choice(std::string_view name, std::string_view fallback,
                           std::initializer_list<std::string_view> allowed,
                           std::string_view meaning)
{
    std::string names;
    for (const auto one : allowed)
        names += (names.empty() ? "" : ", ") + std::string(one);
    auto value = take(name, std::string(fallback), meaning, "one of " + names);
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end())
        return value;
    add_problem(name, "must be one of " + names + ", not " + quote(value));
    return std::string(fallback);
}

std::string reader::readable_file(std::string_view name, std::string_view fallback,
                                  std::string_view meaning)
{
    auto path = take(name, std::string(fallback), meaning, "a readable file");
    // An ifstream opens a directory too.
    if (!path.empty() && (!std::ifstream(path) || std::filesystem::is_directory(path)))
        add_problem(name, "cannot be read: " + quote(path));
    return path;
}

std::string reader::effective() const
{
    std::string text;
    for (const auto& known : declared_) {
        const auto given = values_.find(known.name);
        const auto& value = given == values_.end() ? known.fallback : given->second;
        const auto shown = known.is_hidden && !value.empty() ? "***" : mask_passwords(value);
        text += (text.empty() ? "" : " ") + known.name + "=" + shown;
    }
    return text;
}

} // namespace tempinbox::config
