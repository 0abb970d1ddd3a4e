#include "mail-ingest/ingest/spool_folder.hpp"

#include "common/async/reset_event.hpp"
#include "common/log/log.hpp"

#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds write_timeout{60};
constexpr std::size_t threads = 2;
// For files that have a name for a moment, on file systems without nameless files.
constexpr std::string_view name_prefix = "tempinbox-mail-";

int open_nameless(const std::string& folder)
{
    const int direct = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (direct >= 0)
        return direct;
    // Not every file system supports O_TMPFILE.
    std::string name = folder + "/" + std::string(name_prefix) + "XXXXXX";
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0)
        ::unlink(name.c_str());
    return named;
}

void make_folder(const std::string& folder)
{
    if (::mkdir(folder.c_str(), S_IRWXU) == 0)
        return;
    if (errno != EEXIST)
        throw std::system_error(errno, std::generic_category(),
                                "spool-directory " + folder + " cannot be created");
    struct stat found = {};
    const bool is_own = ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                        found.st_uid == ::geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (!is_own)
        throw std::runtime_error(
            "spool-directory " + folder +
            " must be a directory of this program's user alone; a missing one is created");
}

void remove_leftovers(const std::string& folder)
{
    std::size_t removed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::error_code error;
        if (!entry.path().filename().native().starts_with(name_prefix) ||
            !entry.is_regular_file(error))
            continue;
        if (std::filesystem::remove(entry.path(), error))
            ++removed;
    }
    if (removed > 0)
        log::info("leftover spool files removed", {{"files", removed}});
}

std::string without_slash(std::string folder)
{
    while (folder.size() > 1 && folder.back() == '/')
        folder.pop_back();
    return folder;
}

} // namespace

spool_file::~spool_file()
{
    if (mapped_)
        ::munmap(mapped_, mapped_bytes_);
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

bool spool_file::append(std::string_view bytes)
{
    if (descriptor_ < 0)
        descriptor_ = open_nameless(folder_);
    if (descriptor_ < 0)
        return false;
    while (!bytes.empty()) {
        const auto written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string_view spool_file::read_back(std::size_t size)
{
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (mapped == MAP_FAILED)
        return {};
    mapped_ = mapped;
    mapped_bytes_ = size;
    return {static_cast<const char*>(mapped_), size};
}

struct spool_folder::write_job
{
    std::shared_ptr<spool_file> file;
    std::string bytes;
    async::reset_event finished;
    bool is_written = false;

    write_job(std::shared_ptr<spool_file> to, std::string given,
              const boost::asio::any_io_executor& executor)
        : file(std::move(to)),
          bytes(std::move(given)),
          finished(executor)
    {}
};

spool_folder::spool_folder(runtime::host& host, std::string folder, std::size_t max_bytes)
    : host_(host),
      folder_(without_slash(std::move(folder))),
      disk_(max_bytes == 0 ? memory_budget::unbounded : max_bytes,
            [&shown = host.metrics().gauge("tempinbox_mail_ingest_spool_bytes",
                                           "Bytes of spooled messages on the disk")](
                std::size_t used) { shown.Set(static_cast<double>(used)); }),
      done_(host.loop()),
      workers_(threads)
{
    make_folder(folder_);
    remove_leftovers(folder_);
}

spool_folder::~spool_folder()
{
    stop();
}

awaitable<bool> spool_folder::write(std::shared_ptr<spool_file> file, std::string bytes)
{
    const auto mine =
        std::make_shared<write_job>(std::move(file), std::move(bytes), host_.executor());
    boost::asio::post(workers_, [this, job = mine]() mutable {
        job->is_written = job->file->append(job->bytes);
        done_.push([done = std::move(job)] { done->finished.set(); });
    });
    const bool is_finished =
        co_await mine->finished.wait_until(std::chrono::steady_clock::now() + write_timeout);
    co_return is_finished && mine->is_written;
}

void spool_folder::remove(std::shared_ptr<spool_file> file, memory_budget::reservation reservation)
{
    auto held = std::make_shared<memory_budget::reservation>(std::move(reservation));
    boost::asio::post(workers_, [this, last = std::move(file), held = std::move(held)]() mutable {
        last.reset();
        done_.push([given_back = std::move(held)] {});
    });
}

void spool_folder::stop()
{
    workers_.join();
}

} // namespace tempinbox::mail_ingest
