#include "migrations/schemas.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tempinbox::migrations {
namespace {

struct home
{
    std::string_view schema;
    std::string_view folder; // of schema/ and functions/
    std::string_view shared; // a file of shared_functions that this schema has too
};

constexpr home homes[] = {
    {"accounts", "libs/accounts/", ""},
    {"mailbox", "libs/mailbox/", "lowest_uuid"},
    {"quota", "services/rate-limit/storage/", ""},
    {"webhooks", "services/webhook-dispatcher/storage/", "lowest_uuid"},
};

// Functions that several schemas have, each its own, since schemas may lie in different databases.
constexpr std::string_view shared_functions = "libs/common/postgres/functions/";

std::vector<postgres::migration> read_numbered(const std::string& folder)
{
    auto found = postgres::read_migrations(files, folder);
    if (!found)
        throw std::logic_error(found.error().message);
    return std::move(*found);
}

postgres::schema_files read_home(const home& of)
{
    const std::string folder(of.folder);
    postgres::schema_files found;
    found.schema = of.schema;
    found.migrations = read_numbered(folder + "schema/");
    found.functions = postgres::read_functions(files, folder + "functions/");
    for (auto& one : postgres::read_functions(files, shared_functions))
        if (one.name == of.shared)
            found.functions.push_back(std::move(one));
    return found;
}

} // namespace

std::vector<std::string_view> schemas()
{
    std::vector<std::string_view> names;
    for (const auto& entry : homes)
        names.push_back(entry.schema);
    return names;
}

postgres::schema_files of_schema(std::string_view schema)
{
    for (const auto& entry : homes)
        if (entry.schema == schema)
            return read_home(entry);
    throw std::logic_error("no schema is called " + std::string(schema));
}

} // namespace tempinbox::migrations
