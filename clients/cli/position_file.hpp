#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tempinbox::cli {

// How far `listen` has come, kept for the next run. Locked while the object lives, so that two runs
// do not forward the same email. Throws failure_error: conflict if another process has it, internal
// if it cannot be written.
class position_file
{
public:
    // Makes the file, and its folders, where there are none.
    explicit position_file(std::string path);
    ~position_file();
    position_file(const position_file&) = delete;

    const std::string& path() const { return path_; }
    // Absent in a new file, and where the content is no position.
    std::optional<std::int64_t> read() const;
    // On disk on return.
    void write(std::int64_t sequence);

private:
    std::string path_;
    int descriptor_ = -1;
};

} // namespace tempinbox::cli
