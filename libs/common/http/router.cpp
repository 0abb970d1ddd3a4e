#include "common/http/router.hpp"

#include "common/core/text.hpp"
#include "common/http/target.hpp"

#include <algorithm>
#include <stdexcept>

namespace tempinbox::http {
namespace {

bool is_parameter(std::string_view segment)
{
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

std::vector<std::string> split_path(std::string_view path)
{
    std::vector<std::string> segments;
    while (!path.empty() && path.front() == '/') {
        path.remove_prefix(1);
        const auto end = std::min(path.find('/'), path.size());
        segments.emplace_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return segments;
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path)
{
    if (pattern.size() != path.size())
        return false;
    for (std::size_t i = 0; i < pattern.size(); ++i)
        if (is_parameter(pattern[i]) ? path[i].empty() : pattern[i] != path[i])
            return false;
    return true;
}

// Negative if `a` is more specific: the first segment that is literal in only one of them decides.
int compare_shapes(const std::vector<std::string>& a, const std::vector<std::string>& b)
{
    for (std::size_t i = 0; i < a.size(); ++i)
        if (const int difference = int{is_parameter(a[i])} - int{is_parameter(b[i])};
            difference != 0)
            return difference;
    return 0;
}

void allow_method(std::string& allow, std::string_view method)
{
    const auto listed = split_list(allow);
    if (std::find(listed.begin(), listed.end(), method) == listed.end())
        allow.append(allow.empty() ? "" : ", ").append(method);
}

awaitable<response> respond_with(response answer)
{
    co_return answer;
}

} // namespace

void router::add(std::string_view method, std::string_view pattern, handler handle)
{
    auto segments = split_path(pattern);
    if (segments.empty())
        throw std::logic_error("a route must start with a slash: " + std::string(pattern));
    routes_.push_back(
        route{std::string(method), std::string(pattern), std::move(segments), std::move(handle)});
}

router::match router::find(std::string_view method, std::string_view path) const
{
    auto segments = split_path(path);
    for (auto& segment : segments)
        if (segment.find('%') != std::string::npos)
            segment = percent_decode(segment).value_or(segment);

    // The most specific shape decides the path; then the method is looked up among its routes.
    const route* shape = nullptr;
    const route* chosen = nullptr;
    for (const auto& candidate : routes_) {
        if (!fits(candidate.segments, segments))
            continue;
        const int order = shape ? compare_shapes(candidate.segments, shape->segments) : -1;
        if (order > 0)
            continue;
        if (order < 0) {
            shape = &candidate;
            chosen = nullptr;
        }
        if (candidate.method == method ||
            (method == "HEAD" && candidate.method == "GET" && !chosen))
            chosen = &candidate;
    }

    match found;
    if (!shape)
        return found;
    if (!chosen) {
        for (const auto& candidate : routes_) {
            if (!fits(candidate.segments, segments) ||
                compare_shapes(candidate.segments, shape->segments) != 0)
                continue;
            allow_method(found.allow, candidate.method);
            if (candidate.method == "GET")
                allow_method(found.allow, "HEAD");
        }
        allow_method(found.allow, "OPTIONS");
        found.pattern = shape->pattern;
        return found;
    }
    found.handle = &chosen->handle;
    found.pattern = chosen->pattern;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto& name = chosen->segments[i];
        if (is_parameter(name))
            found.params.emplace_back(name.substr(1, name.size() - 2), std::move(segments[i]));
    }
    return found;
}

awaitable<response> router::dispatch(request& received) const
{
    auto found = find(received);
    received.route = found.pattern;
    if (!found.handle)
        return respond_with(not_routed(found, received));
    if (!received.target_error.empty())
        return respond_with(error_response(400, received.target_error));
    received.path_params = std::move(found.params);
    return (*found.handle)(received);
}

response not_routed(const router::match& match, const request& received)
{
    if (match.allow.empty())
        return error_response(error_reason::unknown_path, "No such path: " + quote(received.path));
    if (received.method == "OPTIONS") {
        response answer;
        answer.status = 204;
        answer.set("Allow", match.allow);
        return answer;
    }
    auto answer = error_response(405, "Method " + quote(received.method) +
                                          " is not allowed here; allowed are " + match.allow);
    answer.set("Allow", match.allow);
    return answer;
}

} // namespace tempinbox::http
