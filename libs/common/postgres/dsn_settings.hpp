#pragma once

#include "common/config/reader.hpp"

#include <string>
#include <string_view>

namespace tempinbox::postgres {

// Where PostgreSQL is, as one of the settings `database` and `database-file` says.
struct dsn_settings
{
    std::string dsn;
    std::string file; // that holds the DSN; empty: it was given itself

    bool is_set() const { return !dsn.empty(); }
};

// One of the two must be given if `is_required`, and never both. `meaning` is that of `database`.
dsn_settings read_dsn_settings(config::reader& reader, std::string_view meaning,
                               bool is_required = true);

// The only line of a file. Throws std::runtime_error that names the file, never its content, if it
// is no DSN.
std::string read_dsn_file(const std::string& file);

} // namespace tempinbox::postgres
