#pragma once

#include "common/http/router.hpp"
#include "gateway/pipeline/response_budget.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// A file that the gateway offers for download.
struct download
{
    std::string name;
    // A name without the version, under which it can be asked for, too; empty: none.
    std::string alias;
    std::string_view kind; // npm, python, chart or file
    std::string sha256;    // in hexadecimal
    std::string content;
};

// The files of a folder in the order of their names, read once; an absent folder has none. Folders
// and names with anything but letters, digits, `.`, `-`, `_` and `+` are left out. Throws
// std::runtime_error for a folder that cannot be read or holds more than 32 MiB.
std::vector<download> read_downloads(const std::string& folder);

// The folder `downloads` beside the program.
std::string default_download_folder();

// Serves the files below /downloads/, and at /downloads/ a page that lists them with their digests,
// for people and as JSON for machines. No key is needed: large responses to strangers share what
// one account gets of `memory`, and past it get 503. Without files there is no page. `memory`
// outlives the router.
void add_downloads(http::router& site, std::vector<download> files, response_budget& memory);

} // namespace tempinbox::gateway
