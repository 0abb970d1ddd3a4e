#pragma once

#include "common/log/log.hpp"

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::testing {

// The lines that `write` puts on standard output, at level info.
inline std::vector<std::string> captured_lines(const std::function<void()>& write)
{
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::tmpfile(), close);
    std::fflush(stdout);
    const int before = ::dup(STDOUT_FILENO);
    ::dup2(::fileno(file.get()), STDOUT_FILENO);
    log::set_level(log::level::info);
    write();
    log::set_level(log::level::error); // as other tests have it
    std::fflush(stdout);
    ::dup2(before, STDOUT_FILENO);
    ::close(before);

    std::rewind(file.get());
    std::vector<std::string> lines;
    char line[4096];
    while (std::fgets(line, sizeof line, file.get()) != nullptr)
        lines.emplace_back(line);
    return lines;
}

} // namespace tempinbox::testing
