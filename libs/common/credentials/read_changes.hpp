#pragma once

#include "common/core/awaitable.hpp"
#include "common/credentials/change_set.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>

namespace tempinbox::credentials {

// The accounts that changed after a version; none are listed without one. `version` returns the
// newest as `version`, `list_changed` takes a version and a limit and returns `account_id`s.
awaitable<change_set> read_changes(postgres::pool& db, const postgres::statement& version,
                                   const postgres::statement& list_changed,
                                   std::optional<std::int64_t> after);

} // namespace tempinbox::credentials
