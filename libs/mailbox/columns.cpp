#include "mailbox/columns.hpp"

#include "common/json/value.hpp"
#include "common/json/writer.hpp"

#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

// Only this project writes the columns: text that cannot be parsed is damage, not input.
json::value parse(std::string_view text)
{
    json::limits wide;
    wide.bytes = 16 * 1024 * 1024;
    return json::value::parse(text, wide).value();
}

} // namespace

std::vector<std::string> from_array(std::string_view literal)
{
    const auto damaged = [&] {
        return std::runtime_error("not an array of one dimension: " +
                                  std::string(literal.substr(0, 60)));
    };
    if (literal.size() < 2 || literal.front() != '{' || literal.back() != '}')
        throw damaged();
    literal = literal.substr(1, literal.size() - 2);

    std::vector<std::string> items;
    for (std::size_t at = 0; at < literal.size();) {
        std::string item;
        if (literal[at] == '"') {
            for (++at; at < literal.size() && literal[at] != '"'; ++at) {
                if (literal[at] == '\\')
                    ++at;
                if (at < literal.size())
                    item += literal[at];
            }
            if (at >= literal.size())
                throw damaged();
            ++at;
        } else {
            const auto end = std::min(literal.find(',', at), literal.size());
            item = literal.substr(at, end - at);
            if (item.empty() || item == "NULL" || item.front() == '{')
                throw damaged();
            at = end;
        }
        items.push_back(std::move(item));
        if (at < literal.size() && (literal[at] != ',' || at + 1 == literal.size()))
            throw damaged();
        ++at;
    }
    return items;
}

std::string to_json(const std::map<std::string, std::string>& metadata)
{
    json::writer out;
    out.begin_object();
    for (const auto& [key, value] : metadata)
        out.member(key, value);
    out.end_object();
    return out.take();
}

std::map<std::string, std::string> metadata_from_json(std::string_view json)
{
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : parse(json).members())
        metadata.emplace(key, value.text());
    return metadata;
}

std::string to_json(const std::vector<extract::code>& codes)
{
    json::writer out;
    out.begin_array();
    for (const auto& code : codes) {
        out.begin_object();
        out.member("value", code.value)
            .member("score", code.score)
            .member("part", code.part)
            .member("offset", code.offset);
        out.end_object();
    }
    out.end_array();
    return out.take();
}

std::string to_json(const std::vector<extract::link>& links)
{
    json::writer out;
    out.begin_array();
    for (const auto& link : links) {
        out.begin_object();
        out.member("url", link.url).member("text", link.text).member("kind", link.kind);
        out.end_object();
    }
    out.end_array();
    return out.take();
}

std::vector<extract::code> codes_from_json(std::string_view json)
{
    std::vector<extract::code> codes;
    if (json == "[]")
        return codes;
    for (const auto& item : parse(json).items())
        codes.push_back({item["value"].text(), item["score"].number(), item["part"].text(),
                         static_cast<int>(item["offset"].integer())});
    return codes;
}

std::vector<extract::link> links_from_json(std::string_view json)
{
    std::vector<extract::link> links;
    if (json == "[]")
        return links;
    for (const auto& item : parse(json).items())
        links.push_back({item["url"].text(), item["text"].text(), item["kind"].text()});
    return links;
}

std::vector<std::string> link_kinds_from_json(std::string_view json)
{
    std::vector<std::string> kinds;
    if (json == "[]")
        return kinds;
    for (const auto& item : parse(json).items())
        kinds.push_back(item.text());
    return kinds;
}

} // namespace tempinbox::mailbox
