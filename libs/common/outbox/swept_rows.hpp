#pragma once

#include "common/outbox/outbox.hpp"

#include <string>
#include <vector>

namespace tempinbox::outbox {

// Writes rows under a lease that has ended, in the transaction of the change: whichever process
// sweeps next publishes them. Leases end in the order of `rows`, and a sweep claims in that order.
void insert_for_sweep(pqxx::work& tx, const std::string& schema, const std::string& owner,
                      const std::vector<row>& rows);

} // namespace tempinbox::outbox
