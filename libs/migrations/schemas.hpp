#pragma once

#include "common/core/embedded_file.hpp"
#include "common/postgres/migrations.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace tempinbox::migrations {

// The compiled-in SQL files of all schemas. postgres::migrate() (common/postgres/migrations.hpp)
// applies them.
extern const std::span<const embedded_file> files;

// The names of the schemas: accounts, mailbox, quota, webhooks.
std::vector<std::string_view> schemas();

// The files of one schema, in its home: schema/ and functions/. Throws std::logic_error for a
// schema that does not exist or a damaged folder.
postgres::schema_files of_schema(std::string_view schema);

} // namespace tempinbox::migrations
