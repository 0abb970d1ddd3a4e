#pragma once

namespace tempinbox::cli {

// The command line of users. The result is the exit code, one of exit_code.hpp.
int run(int argc, const char* const* argv);

} // namespace tempinbox::cli
