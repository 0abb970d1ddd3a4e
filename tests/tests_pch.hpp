#pragma once
// What every test includes anyway, beside what all units do.
#include "pch.hpp"

#include <catch2/catch.hpp>
