#pragma once

#include <exception>
#include <string>

namespace tempinbox {

// What an exception says, without the line end that libpqxx leaves; for log lines.
std::string text_of(const std::exception_ptr& error);

} // namespace tempinbox
