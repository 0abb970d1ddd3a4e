#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "tempinboxctl/restore_reading.hpp"
#include "tempinboxctl/restore_report.hpp"
#include "tempinboxctl/session.hpp"

namespace tempinbox::ctl {

// What there is to settle; changes nothing.
awaitable<result<restore_report>> examine_restore(session& suite, restore_request request,
                                                  database_facts database);

// Settles it, batch by batch; a run that was interrupted goes on where it stopped, and what is
// settled is only examined. Refuses while a service runs, and where nothing says that the database
// was restored; nothing is changed then.
awaitable<result<restore_report>> settle_restore(session& suite, restore_request request,
                                                 database_facts database);

} // namespace tempinbox::ctl
