#include "cli/mail_links.hpp"

#include "cli/api_client.hpp"

namespace tempinbox::cli {
namespace {

std::optional<json::value> first_of_kind(const std::vector<json::value>& links,
                                         std::string_view kind)
{
    for (const auto& link : links)
        if (text_of(link, "kind") == kind)
            return link;
    return std::nullopt;
}

} // namespace

std::optional<json::value> choose_link(const json::value& email,
                                       const std::optional<std::string>& kind)
{
    const auto links = items_of(email, "links");
    if (kind)
        return first_of_kind(links, *kind);
    for (const char* const preferred : {"verify", "reset", "other"})
        if (auto link = first_of_kind(links, preferred))
            return link;
    return std::nullopt;
}

} // namespace tempinbox::cli
