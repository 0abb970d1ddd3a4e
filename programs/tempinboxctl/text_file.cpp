#include "tempinboxctl/text_file.hpp"

#include "common/core/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tempinbox::ctl {
namespace {

bool write_all(int file, std::string_view left)
{
    while (!left.empty()) {
        const auto written = ::write(file, left.data(), left.size());
        if (written <= 0)
            return false;
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(file) == 0;
}

} // namespace

result<std::string> read_text_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    if (!file)
        return failure{errc::invalid_argument, "the file " + quote(path) + " cannot be read"};
    return content.str();
}

result<void> write_text_file(const std::string& path, const std::string& content)
{
    const auto next = path + ".new";
    std::ofstream file(next, std::ios::binary | std::ios::trunc);
    file << content;
    file.close();
    if (file && std::rename(next.c_str(), path.c_str()) == 0)
        return {};
    const std::string reason = std::strerror(errno);
    ::unlink(next.c_str());
    return failure{errc::invalid_argument,
                   "the file " + quote(path) + " cannot be written: " + reason};
}

result<secret> read_secret_file(const std::string& path)
{
    const auto content = read_text_file(path);
    if (!content)
        return content.error();
    auto line = content->substr(0, content->find('\n'));
    if (line.ends_with('\r'))
        line.pop_back();
    if (line.empty())
        return failure{errc::invalid_argument, "the first line of " + quote(path) + " is empty"};
    return secret(std::move(line));
}

result<void> write_secret_file(const std::string& path, const secret& content)
{
    // O_EXCL: neither another's file nor a symbolic link to one is written to.
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return failure{errno == EEXIST ? errc::conflict : errc::invalid_argument,
                       "the file " + quote(path) + " cannot be made: " + std::strerror(errno)};
    const bool is_written = write_all(file, content.reveal() + "\n");
    const std::string reason = std::strerror(errno);
    if (::close(file) == 0 && is_written)
        return {};
    ::unlink(path.c_str());
    return failure{errc::internal, "the file " + quote(path) + " cannot be written: " + reason};
}

} // namespace tempinbox::ctl
