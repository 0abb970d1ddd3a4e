#include "rate-limit/settings.hpp"

namespace tempinbox::rate_limit {

settings read_settings(config::reader& read)
{
    settings chosen;
    chosen.database = postgres::read_settings(read, 4);
    chosen.rpc.listen = read.address("rpc-listen", "127.0.0.1:8082", "where the other services call this one");
    chosen.rpc.name = "rpc";
    chosen.rpc.body_limit = 4 * 1024 * 1024;
    chosen.rpc_token_file = read.readable_file("rpc-token-file", "", "file with the shared RPC token; a second line is accepted too");
    if (chosen.rpc_token_file.empty())
        read.add_problem("rpc-token-file", "must be set");
    return chosen;
}

} // namespace tempinbox::rate_limit
