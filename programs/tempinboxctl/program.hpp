#pragma once

namespace tempinbox::ctl {

// The operator's command line. 0: done; 1: refused or failed, the reason on standard error; 2: the
// command line is wrong.
int run(int argc, const char* const* argv);

} // namespace tempinbox::ctl
