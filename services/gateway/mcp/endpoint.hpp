#pragma once

#include "gateway/mcp/content_reader.hpp"
#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway::mcp {

// POST /mcp: the Model Context Protocol over streamable HTTP, of the revisions in revision.hpp. It
// keeps nothing between two requests, so any replica answers any of them. Errors before a message
// could be read are those of the API; from there on they are JSON-RPC's, and what an operation of
// /v1 refuses is the result of the tool, in the operation's words. `contents` outlives the route.
route endpoint(content_reader& contents);

} // namespace tempinbox::gateway::mcp
