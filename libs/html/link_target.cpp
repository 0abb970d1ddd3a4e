#include "html/link_target.hpp"

#include "html/tags.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

namespace tempinbox::html {
namespace {

constexpr std::size_t max_bytes = 4'096; // of a base, and of a reference to it

// Absent if either is no reference, or the base is not absolute.
std::string resolve(std::string_view base, std::string_view reference)
{
    if (base.size() > max_bytes || reference.size() > max_bytes)
        return {};
    const auto from = boost::urls::parse_uri(base);
    const auto to = boost::urls::parse_uri_reference(reference);
    boost::urls::url resolved;
    if (!from || !to || !boost::urls::resolve(*from, *to, resolved))
        return {};
    return resolved.buffer();
}

bool has_scheme(std::string_view href)
{
    const auto colon = href.find(':');
    return colon != std::string_view::npos && colon < href.find_first_of("/?#");
}

} // namespace

std::string link_target(std::string_view tag, std::string_view base)
{
    auto href = find_href(tag);
    if (href.empty() || href.front() == '#' || has_scheme(href))
        return href;
    auto resolved = resolve(base, href);
    if (!resolved.empty())
        return resolved;
    return href.starts_with("//") ? "https:" + href : href;
}

} // namespace tempinbox::html
