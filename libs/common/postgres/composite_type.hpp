#pragma once

#include "common/postgres/binary_array.hpp"

namespace tempinbox::postgres {

// The OID of a composite type, `mailbox.new_message`, for arrays of it. It differs from database to
// database; a worker's connection is asked once for each type. Throws if there is no such type. A
// changed composite type is a new name, as a function with a changed signature is.
type_oid composite_oid(pqxx::transaction_base& tx, const std::string& name);

// The worker opened another connection: maybe to another database.
void clear_composite_oids();

} // namespace tempinbox::postgres
