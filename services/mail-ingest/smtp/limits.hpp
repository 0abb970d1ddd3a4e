#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tempinbox::smtp {

// The bounds of one session; zero: without bound. RFC 5321 4.5.3 sets the least, the rest is chosen
// so that a careless client works and a hostile one costs little.
struct limits
{
    std::string hostname = "localhost";
    std::uint64_t message_bytes = 25 * 1024 * 1024; // announced; a recipient's plan may allow less
    int recipients = 100;
    int messages = 1'000;
    std::size_t command_line = 2'048;
    int errors_before_delay = 10;
    int errors_before_close = 20;
    int unknown_before_delay = 5;
    int unknown_before_close = 10;
    int refused_before_delay = 100; // of recipients, for whatever reason: each may cost a look-up
    std::chrono::milliseconds error_delay{1'000}; // of a refused recipient too
    std::chrono::milliseconds unknown_delay{2'000};
    std::chrono::milliseconds idle{300'000};
    std::chrono::milliseconds idle_when_busy{60'000};
    std::chrono::milliseconds session{1'200'000};
    std::chrono::milliseconds oversize_timeout{
        60'000}; // for the rest of a message that is too large
    std::chrono::milliseconds rate_window{60'000};
    std::uint64_t min_bytes_per_second = 500; // of a message, over the window
    bool takes_bare_newlines = false;
};

} // namespace tempinbox::smtp
