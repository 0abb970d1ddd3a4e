#include "cli/position_file.hpp"

#include "common/core/errors.hpp"
#include "common/core/text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace tempinbox::cli {
namespace {

// Digits and the line's end: each position takes the place of the one before in one write, so a
// process that is killed leaves one or the other.
constexpr std::size_t digits = 19;
constexpr std::size_t record_bytes = digits + 1;

failure_error cannot(const std::string& path, const std::string& reason)
{
    return failure_error({errc::internal, "the position of listen cannot be kept in " +
                                              quote(path) + ": " + reason +
                                              "; --state-file FILE names another file"});
}

} // namespace

position_file::position_file(std::string path) : path_(std::move(path))
{
    namespace fs = std::filesystem;
    std::error_code error;
    if (const auto folder = fs::path(path_).parent_path(); !folder.empty())
        fs::create_directories(folder, error);
    if (error)
        throw cannot(path_, error.message());
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0)
        throw cannot(path_, std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0)
        return;
    const int reason = errno;
    ::close(descriptor_);
    if (reason != EWOULDBLOCK)
        throw cannot(path_, std::strerror(reason));
    throw failure_error({errc::conflict, "another tempinbox listen forwards this inbox to this "
                                         "target already: it holds " +
                                             quote(path_)});
}

position_file::~position_file()
{
    ::close(descriptor_);
}

std::optional<std::int64_t> position_file::read() const
{
    std::array<char, record_bytes> bytes{};
    const auto got = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
    std::int64_t sequence = 0;
    const auto end = bytes.data() + digits;
    if (got != static_cast<ssize_t>(record_bytes))
        return std::nullopt;
    const auto [rest, error] = std::from_chars(bytes.data(), end, sequence);
    if (error != std::errc() || rest != end || sequence < 0)
        return std::nullopt;
    return sequence;
}

void position_file::write(std::int64_t sequence)
{
    auto text = std::to_string(sequence);
    text.insert(0, digits - text.size(), '0');
    text += '\n';
    const auto put = ::pwrite(descriptor_, text.data(), text.size(), 0);
    if (put != static_cast<ssize_t>(text.size()) || ::fdatasync(descriptor_) != 0)
        throw cannot(path_, std::strerror(errno));
}

} // namespace tempinbox::cli
