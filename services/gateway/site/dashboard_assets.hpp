#pragma once

#include "common/http/message.hpp"

#include <map>
#include <string>
#include <string_view>

namespace tempinbox::gateway {

// A file of the page as browsers get it, with the compressed forms that the build made.
struct asset
{
    std::string content_type;
    std::string content;
    std::string brotli; // empty: none
    std::string gzip;   // empty: none
    std::string etag;
    bool has_hash_in_name = false; // its content never changes
};

// The dashboard's page: the files of a folder, read once. A path below /dashboard that is no file
// is a route of the page and gets index.html. Paths are looked up among the files read, so none
// leads out of the folder. Without a built page the response is a text that says how to build it.
class dashboard_assets
{
public:
    // An absent or empty folder is no error. Throws std::runtime_error for a folder that cannot be
    // read or holds more than 32 MiB. Every address in index.html that begins with a slash gets the
    // base path before it, so one build can be served anywhere.
    explicit dashboard_assets(const std::string& folder, std::string_view base_path = {});

    static bool serves(std::string_view path);
    // GET and HEAD; others get 405.
    http::response handle(const http::request& received) const;

    bool is_built() const { return index_ != nullptr; }

private:
    const asset* find(std::string_view path) const;

    std::map<std::string, asset, std::less<>> files_;
    const asset* index_ = nullptr;
};

// The folder `dashboard` beside the program.
std::string default_dashboard_folder();

} // namespace tempinbox::gateway
