// Catch2's main, compiled once for each test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
