#pragma once

#include <string>
#include <string_view>

namespace tempinbox::postgres {

// Both forms of libpq are accepted: `postgresql://user@host/db?x=y` and `host=… dbname=…`. If a
// parameter is given twice, libpq takes the last.

// The DSN with the parameter set, whatever its value was before.
std::string with_parameter(std::string_view dsn, std::string_view name, std::string_view value);

// The DSN with the parameter set unless it has a value already.
std::string with_default(std::string_view dsn, std::string_view name, std::string_view value);

// Whether libpq can read it, so that a connection may be tried. Says no more: the reasons that
// libpq gives cite the text, which holds a password.
bool is_valid_dsn(const std::string& dsn);

} // namespace tempinbox::postgres
