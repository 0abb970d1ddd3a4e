#include "mail-ingest/intake/spool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace tempinbox::mail_ingest {
namespace {

int open_nameless(const std::string& folder)
{
    const int direct = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (direct >= 0)
        return direct;
    // Not every file system has O_TMPFILE.
    std::string name = folder + "/tempinbox-mail-XXXXXX";
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0)
        ::unlink(name.c_str());
    return named;
}

} // namespace

spool::spool(memory_budget& budget, std::size_t most_in_memory, const std::string& folder)
    : share_(budget),
      most_in_memory_(most_in_memory),
      folder_(folder)
{}

spool::~spool()
{
    if (mapped_)
        ::munmap(mapped_, static_cast<std::size_t>(size_));
    if (file_ >= 0)
        ::close(file_);
}

bool spool::append(std::string_view bytes)
{
    size_ += bytes.size();
    if (file_ >= 0)
        return write(bytes);
    if (memory_.size() + bytes.size() <= most_in_memory_ && share_.grow(bytes.size())) {
        memory_.append(bytes);
        return true;
    }
    return move_to_file() && write(bytes);
}

bool spool::move_to_file()
{
    file_ = open_nameless(folder_);
    if (file_ < 0 || !write(memory_))
        return false;
    memory_ = {};
    share_.clear();
    return true;
}

bool spool::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool spool::finish()
{
    bytes_ = memory_;
    if (file_ < 0)
        return true;
    void* mapped = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_PRIVATE, file_, 0);
    if (mapped == MAP_FAILED)
        return false;
    mapped_ = mapped;
    bytes_ = std::string_view(static_cast<const char*>(mapped_), static_cast<std::size_t>(size_));
    return true;
}

} // namespace tempinbox::mail_ingest
