#pragma once

#include <string>
#include <string_view>

namespace tempinbox::postgres {

// Both forms of libpq are taken: `postgresql://user@host/db?x=y` and `host=… dbname=…`. Of a
// parameter given twice libpq takes the last.

// The DSN with the parameter set, whatever it said before.
std::string with_parameter(std::string_view dsn, std::string_view name, std::string_view value);

// The DSN with the parameter set unless it says something else.
std::string with_default(std::string_view dsn, std::string_view name, std::string_view value);

} // namespace tempinbox::postgres
