#pragma once

#include "common/core/list_order.hpp"
#include "common/core/time.hpp"
#include "common/http/message.hpp"
#include "common/json/object_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// Reads the query of a request as json::object_reader reads a body: read every parameter, then call
// `finish`, which also refuses parameters that were never read. The first error is kept. An empty
// value counts as given.
class query_reader
{
public:
    explicit query_reader(const http::request& received);

    std::optional<std::string> text(std::string_view name, std::size_t min, std::size_t max);
    std::int64_t integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                         std::int64_t max);
    std::string choice(std::string_view name, std::string_view fallback,
                       const std::vector<std::string>& allowed);
    // Absent is neither: a filter that is absent takes any.
    std::optional<bool> boolean(std::string_view name);
    std::optional<time_point> time(std::string_view name);
    // The names that begin with `prefix`, as given, each once; they still have to be read.
    std::vector<std::string> names(std::string_view prefix);
    // Some of `allowed`, comma-separated; absent: none.
    std::vector<std::string> choices(std::string_view name,
                                     const std::vector<std::string>& allowed);

    // For a parameter that is known here and refused.
    bool has(std::string_view name) const;
    void fail(std::string message);
    result<void> finish();

private:
    std::optional<std::string_view> take(std::string_view name);

    const http::request& received_;
    std::vector<std::string> requested_;
    std::optional<failure> error_;
};

// The page of a list: `limit` 1–100, by default 25, an opaque `cursor`, and the list's `order`.
struct page
{
    int limit = 25;
    std::string cursor;
    list_order order = list_order::newest_first;
};
page read_page(query_reader& query);
// Writes the page to the request of a list.
template <class Request>
void set_page(Request& list, const page& requested)
{
    list.set_limit(requested.limit);
    list.set_cursor(requested.cursor);
    list.set_oldest_first(requested.order == list_order::oldest_first);
}

// For operations without parameters.
result<void> expect_no_query(const http::request& received);
// The fields of the body, for operations whose parameters all stand there.
result<json::object_reader> read_body(const http::request& received);
// For an object inside the body: reports its error as one of the body.
void report_inner_error(json::object_reader& body, const std::string& field_path,
                        json::object_reader& inner);

} // namespace tempinbox::gateway
