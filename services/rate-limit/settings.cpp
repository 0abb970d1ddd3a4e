#include "rate-limit/settings.hpp"

namespace tempinbox::rate_limit {

settings read_settings(config::reader& read)
{
    settings chosen;
    chosen.database = postgres::read_settings(read, 4);
    chosen.rpc.listen = read.address("rpc-listen", "127.0.0.1:9102", "where the other services call this one");
    chosen.rpc.name = "rpc";
    chosen.rpc.body_limit = 4 * 1024 * 1024;
    chosen.rpc_token_file =
        read.readable_file("rpc-token-file", "", "file with the shared RPC token; a second line is accepted too");
    if (chosen.rpc_token_file.empty())
        read.add_problem("rpc-token-file", "must be set");
    chosen.days_kept = static_cast<int>(read.integer("days-kept", 35, 2, 3'650, "days whose use is remembered"));
    return chosen;
}

} // namespace tempinbox::rate_limit
