#pragma once

#include "common/core/errors.hpp"
#include "common/core/secret.hpp"

#include <string>

namespace tempinbox::ctl {

// The whole file; invalid_argument if it cannot be read.
result<std::string> read_text_file(const std::string& path);

// Writes the whole file, in place of one that is there: a reader sees the old one or the new one.
result<void> write_text_file(const std::string& path, const std::string& content);

// The first line of a file that holds a password or a key.
result<secret> read_secret_file(const std::string& path);

// A new file with one line, for nobody but its owner (0600); it is on disk on return. conflict if
// there is something at `path` already, which stays as it is.
result<void> write_secret_file(const std::string& path, const secret& content);

} // namespace tempinbox::ctl
