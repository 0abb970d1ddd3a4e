#pragma once

#include "common/core/embedded_file.hpp"
#include "common/postgres/migrations.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace tempinbox::migrations {

// The compiled-in files services/*/migrations/*.sql.
extern const std::span<const embedded_file> files;

// The schemas and the service whose folder holds their migrations: accounts (gateway), mailbox
// (inbox), quota (rate-limit), webhooks (webhook-dispatcher).
std::vector<std::string_view> schemas();

// The migrations of one schema, oldest first; throws std::logic_error for a schema that does not
// exist or a damaged folder.
std::vector<postgres::migration> of_schema(std::string_view schema);

} // namespace tempinbox::migrations
