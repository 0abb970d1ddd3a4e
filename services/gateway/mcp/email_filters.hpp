#pragma once

#include "common/json/object_reader.hpp"
#include "gateway/mcp/api_calls.hpp"

namespace tempinbox::gateway::mcp {

// The filters that a tool reads by itself, in place of the arguments.
struct own_filters
{
    bool code = false;
    bool link = false;
};

// Reads the filters of emails, which have the names of the API; only `headers` is an object here.
// The operation checks what they mean together.
void read_filters(json::object_reader& arguments, query_list& query, const own_filters& own = {});

} // namespace tempinbox::gateway::mcp
