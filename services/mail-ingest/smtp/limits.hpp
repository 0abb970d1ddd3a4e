#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tempinbox::smtp {

// The limits of one session; zero: no bound. RFC 5321 4.5.3 sets the minimum; the rest lets a
// careless client work and keeps a hostile one cheap.
struct limits
{
    std::string hostname = "localhost";
    // Announced by SIZE; a recipient's plan may allow less.
    std::uint64_t message_bytes = 25 * 1024 * 1024;
    int recipients = 100;
    int messages = 1'000;
    std::size_t command_line = 2'048;
    int errors_before_delay = 10;
    int errors_before_close = 20;
    int failed_logins = 3; // of a session; the next one closes it
    int unknown_before_delay = 5;
    int unknown_before_close = 10;
    int refused_before_delay = 100; // of recipients, for any reason: each may cost a lookup
    std::chrono::milliseconds error_delay{1'000}; // for a refused recipient too
    std::chrono::milliseconds unknown_delay{2'000};
    std::chrono::milliseconds failed_login_delay{1'000}; // from the second failure on
    std::chrono::milliseconds idle{300'000};
    std::chrono::milliseconds idle_when_busy{60'000};
    std::chrono::milliseconds session{1'200'000};
    std::chrono::milliseconds login{60'000}; // from connect to a login, where one is needed
    // How long the rest of a message that is too large is read.
    std::chrono::milliseconds oversize_timeout{60'000};
    std::chrono::milliseconds rate_window{60'000};
    std::uint64_t min_bytes_per_second = 500; // of a message, averaged over the window
    bool takes_bare_newlines = false;
};

} // namespace tempinbox::smtp
