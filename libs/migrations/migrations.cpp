#include "migrations/migrations.hpp"

#include <stdexcept>
#include <string>

namespace tempinbox::migrations {
namespace {

struct owner
{
    std::string_view schema;
    std::string_view service;
};

constexpr owner owners[] = {{"accounts", "gateway"},
                            {"mailbox", "inbox"},
                            {"quota", "rate-limit"},
                            {"webhooks", "webhook-dispatcher"}};

} // namespace

std::vector<std::string_view> schemas()
{
    std::vector<std::string_view> names;
    for (const auto& entry : owners)
        names.push_back(entry.schema);
    return names;
}

std::vector<postgres::migration> of_schema(std::string_view schema)
{
    for (const auto& entry : owners) {
        if (entry.schema != schema)
            continue;
        auto found = postgres::read_migrations(files, "services/" + std::string(entry.service) +
                                                          "/migrations/");
        if (!found)
            throw std::logic_error(found.error().message);
        return std::move(*found);
    }
    throw std::logic_error("no schema is called " + std::string(schema));
}

} // namespace tempinbox::migrations
