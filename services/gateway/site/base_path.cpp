#include "gateway/site/base_path.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/http/target.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_length = 200;
constexpr std::array<std::string_view, 7> own_segments{
    "v1", "mcp", "dashboard", "docs", "downloads", "openapi.json", "llms.txt"};

// RFC 3986 2.3
bool is_unreserved(char c)
{
    return is_letter_or_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
}

failure refused(std::string_view reason)
{
    return failure{errc::invalid_argument, std::string(reason)};
}

result<void> check_segment(std::string_view segment)
{
    if (segment.empty())
        return refused("must not have // in it");
    if (segment == "." || segment == "..")
        return refused("must not have . or .. as a part");
    if (!std::all_of(segment.begin(), segment.end(), is_unreserved))
        return refused("may have letters, digits, - . _ and ~ between its slashes, not " +
                       quote(segment));
    return {};
}

} // namespace

result<std::string> parse_base_path(std::string_view given)
{
    if (given.empty() || given == "/")
        return std::string();
    if (given.front() != '/')
        return refused("must begin with a slash, such as /some/path");
    if (given.size() > max_length)
        return refused("must have at most " + std::to_string(max_length) + " characters");
    if (given.back() == '/')
        given.remove_suffix(1);
    const auto segments = given.substr(1);
    for (std::size_t begin = 0; begin <= segments.size();) {
        const auto end = std::min(segments.find('/', begin), segments.size());
        if (const auto checked = check_segment(segments.substr(begin, end - begin)); !checked)
            return checked.error();
        begin = end + 1;
    }
    const auto first = segments.substr(0, segments.find('/'));
    if (std::find(own_segments.begin(), own_segments.end(), first) != own_segments.end())
        return refused("must not begin with /" + std::string(first) +
                       ", which is a path of the gateway's own");
    return std::string(given);
}

void remove_base_path(http::request& received, std::string_view base_path)
{
    if (base_path.empty())
        return;
    // Compares as many segments as the base path has. Segments are those of the raw path, because
    // an encoded slash separates nothing.
    const auto raw = received.raw_path();
    std::size_t end = 0;
    for (auto segments = std::count(base_path.begin(), base_path.end(), '/');
         segments > 0 && end < raw.size(); --segments)
        end = std::min(raw.find('/', end + 1), raw.size());
    const auto found = http::percent_decode(raw.substr(0, end));
    if (!found || *found != base_path)
        return;

    received.target.erase(0, end);
    if (!received.target.starts_with('/'))
        received.target.insert(0, "/");
    const std::string rest(received.raw_path());
    received.path = http::percent_decode(rest).value_or(rest);
}

void add_base_path(http::response& response, std::string_view base_path)
{
    const auto location = http::find_header(response.headers, "Location");
    if (location && location->starts_with('/'))
        response.set("Location", std::string(base_path).append(*location));
}

} // namespace tempinbox::gateway
