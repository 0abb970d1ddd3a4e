#pragma once

#include "common/core/embedded_file.hpp"
#include "common/http/router.hpp"

#include <span>
#include <string_view>

namespace tempinbox::documentation {

// Built from docs/openapi.yaml: openapi.json, and docs.html with style.css. Built from
// docs/events/asyncapi.yaml: asyncapi.json and events.html.
extern const std::span<const embedded_file> files;

} // namespace tempinbox::documentation

namespace tempinbox::docs_tree {

// llms.txt and what is served of docs/, by the path in the repository, which is the path at the
// gateway.
extern const std::span<const embedded_file> files;

} // namespace tempinbox::docs_tree

namespace tempinbox::gateway {

// The built-in contract of the API as JSON; throws std::logic_error if the program was built
// without it.
std::string_view openapi_json();

// Replaces a contract's server `/` by the base path, in JSON and YAML.
std::string with_server_at(std::string_view contract, std::string_view base_path);

// Serves `/openapi.json`, and a page for people at `/docs`; of the events `/docs/events`, and
// `/docs/events/asyncapi.json`. For programs that read Markdown, `/llms.txt` lists the pages of
// docs/ below `/docs`. No key is needed; the pages load nothing from elsewhere and run no script. A
// contract's server is at the base path; links are relative. Paths are looked up among the files
// compiled in, so none leads elsewhere.
void add_documentation(http::router& site, std::string_view base_path);

} // namespace tempinbox::gateway
