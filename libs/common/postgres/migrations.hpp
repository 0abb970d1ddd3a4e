#pragma once

#include "common/core/embedded_file.hpp"
#include "common/core/errors.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::postgres {

// One numbered file of services/<service>/migrations.
struct migration
{
    int version = 0;
    std::string name;
    std::string sql;
};

// The migrations of one folder in order; a gap, a repeat or a bad name is a failure.
result<std::vector<migration>> read_migrations(std::span<const embedded_file> files, std::string_view folder);

// Brings `schema` to the newest version, each migration in its own transaction, all under an advisory lock; safe when run by many
// at once and again. Answers the versions applied. The table is tempinbox_migrations(schema, version, name, checksum,
// applied_at); an altered old file is a failure.
result<std::vector<int>> migrate(const std::string& dsn, const std::string& schema, const std::vector<migration>& migrations);

} // namespace tempinbox::postgres
