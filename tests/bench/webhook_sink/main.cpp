#include "sink.hpp"

#include <cstdio>
#include <exception>

// Prints its port, then receives until it is killed.
int main()
{
    try {
        tempinbox::bench::sink receiver;
        std::printf("%u\n", static_cast<unsigned>(receiver.port()));
        std::fflush(stdout);
        receiver.run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
