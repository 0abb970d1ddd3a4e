#include "gateway/pipeline/query_reader.hpp"

#include "common/core/text.hpp"
#include "common/json/object_reader.hpp"

#include <algorithm>
#include <charconv>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_cursor_length = 500;

} // namespace

query_reader::query_reader(const http::request& received) : received_(received) {}

std::optional<std::string> query_reader::text(std::string_view name, std::size_t min,
                                              std::size_t max)
{
    const auto given = take(name);
    if (!given)
        return std::nullopt;
    const bool is_sound = is_valid_utf8(*given) && given->find('\0') == std::string_view::npos;
    const auto characters = is_sound ? count_characters(*given) : 0;
    if (!is_sound || characters < min || characters > max) {
        fail(std::string(name) + " must have " + std::to_string(min) + " to " +
             std::to_string(max) + " characters, not " + quote(*given));
        return std::nullopt;
    }
    if (json::has_control_characters(*given)) {
        fail(std::string(name) + " must not contain control characters: " + quote(*given));
        return std::nullopt;
    }
    return std::string(*given);
}

std::int64_t query_reader::integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                                   std::int64_t max)
{
    const auto given = take(name);
    if (!given)
        return fallback;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), number);
    if (error != std::errc() || end != given->data() + given->size() || number < min ||
        number > max) {
        fail(std::string(name) + " must be an integer from " + std::to_string(min) + " to " +
             std::to_string(max) + ", not " + quote(*given));
        return fallback;
    }
    return number;
}

std::string query_reader::choice(std::string_view name, std::string_view fallback,
                                 const std::vector<std::string>& allowed)
{
    const auto given = take(name);
    if (!given)
        return std::string(fallback);
    if (std::find(allowed.begin(), allowed.end(), *given) == allowed.end())
        fail(std::string(name) + " must be one of " + join_list(allowed) + ", not " +
             quote(*given));
    return std::string(*given);
}

std::optional<bool> query_reader::boolean(std::string_view name)
{
    const auto chosen = choice(name, "", {"true", "false"});
    if (chosen.empty())
        return std::nullopt;
    return chosen == "true";
}

std::optional<time_point> query_reader::time(std::string_view name)
{
    const auto given = take(name);
    if (!given)
        return std::nullopt;
    const auto parsed = parse_iso8601(*given);
    if (!parsed)
        fail(std::string(name) + " must be a time such as 2026-11-21T10:00:00Z, not " +
             quote(*given));
    return parsed;
}

std::vector<std::string> query_reader::names(std::string_view prefix)
{
    std::vector<std::string> found;
    for (const auto& [key, value] : received_.query)
        if (key.starts_with(prefix) && std::find(found.begin(), found.end(), key) == found.end())
            found.push_back(key);
    return found;
}

std::vector<std::string> query_reader::choices(std::string_view name,
                                               const std::vector<std::string>& allowed)
{
    const auto given = take(name);
    if (!given)
        return {};
    auto chosen = split_list(*given);
    const bool is_sound =
        !chosen.empty() && std::all_of(chosen.begin(), chosen.end(), [&](const std::string& each) {
            return std::find(allowed.begin(), allowed.end(), each) != allowed.end();
        });
    if (!is_sound)
        fail(std::string(name) + " must be a comma-separated list of " + join_list(allowed) +
             ", not " + quote(*given));
    return chosen;
}

std::optional<std::string_view> query_reader::take(std::string_view name)
{
    requested_.emplace_back(name);
    std::optional<std::string_view> found;
    for (const auto& [key, value] : received_.query) {
        if (key != name)
            continue;
        if (found)
            fail(std::string(name) + " is given more than once");
        found = value;
    }
    return found;
}

bool query_reader::has(std::string_view name) const
{
    return std::any_of(received_.query.begin(), received_.query.end(),
                       [&](const auto& parameter) { return parameter.first == name; });
}

void query_reader::fail(std::string message)
{
    if (!error_)
        error_ = failure{errc::invalid_argument, std::move(message)};
}

result<void> query_reader::finish()
{
    for (const auto& [key, value] : received_.query)
        if (std::find(requested_.begin(), requested_.end(), key) == requested_.end())
            fail(quote_name(key) + " is unknown here; " +
                 (requested_.empty() ? "this operation takes no query parameters"
                                     : "known are " + join_list(requested_)));
    if (error_)
        return *error_;
    return {};
}

page read_page(query_reader& query)
{
    page read;
    read.limit = static_cast<int>(query.integer("limit", read.limit, 1, 100));
    read.cursor = query.text("cursor", 1, max_cursor_length).value_or("");
    read.order = to_list_order(query.choice("order", "desc", {"desc", "asc"}) == "asc");
    return read;
}

result<void> expect_no_query(const http::request& received)
{
    return query_reader(received).finish();
}

result<json::object_reader> read_body(const http::request& received)
{
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    return json::object_reader::parse(received.body);
}

void report_inner_error(json::object_reader& body, const std::string& field_path,
                        json::object_reader& inner)
{
    if (const auto outcome = inner.finish(); !outcome)
        body.fail(field_path + "." + outcome.error().message);
}

} // namespace tempinbox::gateway
