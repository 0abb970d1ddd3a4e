#pragma once

#include "common/json/value.hpp"
#include "common/testing/await.hpp"
#include "gateway/site/documentation.hpp"

#include <set>
#include <string>

namespace tempinbox::testing {

// docs/openapi.yaml, as the gateway serves it.
inline json::value contract()
{
    http::router site;
    gateway::add_documentation(site, "");
    http::request received;
    received.method = "GET";
    received.target = received.path = "/openapi.json";
    json::limits whole;
    whole.bytes = 1024 * 1024;
    return json::value::parse(await(site.dispatch(received)).body, whole).value();
}

inline json::value schema_of(const std::string& name)
{
    return contract()["components"]["schemas"][name];
}

// Names of an object's members.
inline std::set<std::string> names_of(const json::value& object)
{
    std::set<std::string> names;
    for (const auto& [name, member] : object.members())
        names.insert(name);
    return names;
}

// The names that a schema requires.
inline std::set<std::string> required_of(const json::value& schema)
{
    std::set<std::string> names;
    for (const auto& name : schema["required"].items())
        names.insert(name.text());
    return names;
}

} // namespace tempinbox::testing
