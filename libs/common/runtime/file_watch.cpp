#include "common/runtime/file_watch.hpp"

#include "common/log/log.hpp"
#include "common/metrics/files_current.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tempinbox::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto check_interval = 1s;

// Differs after a write, a replacement and a change of who may read. Links are followed.
std::string file_state(const std::string& file)
{
    struct stat state{};
    if (::stat(file.c_str(), &state) != 0)
        return "absent\n";
    return std::to_string(state.st_dev) + "/" + std::to_string(state.st_ino) + "/" +
           std::to_string(state.st_size) + "/" + std::to_string(state.st_mtim.tv_sec) + "." +
           std::to_string(state.st_mtim.tv_nsec) + "/" + std::to_string(state.st_ctim.tv_sec) +
           "." + std::to_string(state.st_ctim.tv_nsec) + "\n";
}

std::string state_of(const std::vector<std::string>& files)
{
    std::string all;
    for (const auto& file : files)
        all += file_state(file);
    return all;
}

} // namespace

file_watch::subscription::subscription(file_watch& from, std::list<watched>::iterator which)
    : from_(&from),
      which_(which)
{}

file_watch::subscription::subscription(subscription&& other) noexcept
    : from_(std::exchange(other.from_, nullptr)),
      which_(other.which_)
{}

file_watch::subscription& file_watch::subscription::operator=(subscription&& other) noexcept
{
    std::swap(from_, other.from_);
    std::swap(which_, other.which_);
    return *this;
}

file_watch::subscription::~subscription()
{
    if (from_ != nullptr)
        from_->watched_.erase(which_);
}

void file_watch::subscription::set_files(std::vector<std::string> files)
{
    if (from_ == nullptr || which_->files == files)
        return;
    which_->files = std::move(files);
    which_->seen = state_of(which_->files);
}

file_watch::file_watch(boost::asio::any_io_executor executor, metrics::registry& metrics)
    : executor_(std::move(executor)),
      metrics_(metrics),
      task_(executor_, metrics, "reload_files", [this] {
          check();
          return [](std::chrono::microseconds pause) -> awaitable<std::chrono::microseconds> {
              co_return pause;
          }(check_interval);
      })
{}

file_watch::subscription file_watch::watch(std::string_view what, std::vector<std::string> files,
                                           load use)
{
    watched added;
    added.what = what;
    added.files = std::move(files);
    added.use = std::move(use);
    // The state is taken first: a change while the files are read is seen at the next check.
    added.seen = state_of(added.files);
    added.use();
    added.is_current = &metrics::files_current(metrics_, added.what);
    added.reloads =
        &metrics_.counter("tempinbox_file_reloads_total",
                          "Files of a setting that changed and were put to use without a restart",
                          {{"setting", added.what}});
    added.is_current->Set(1);
    watched_.push_back(std::move(added));
    return {*this, std::prev(watched_.end())};
}

void file_watch::check()
{
    for (auto& each : watched_) {
        auto state = state_of(each.files);
        if (state == each.seen)
            continue;
        each.seen = std::move(state);
        reload(each);
    }
}

void file_watch::reload(watched& changed)
{
    try {
        changed.use();
        changed.is_current->Set(1);
        changed.reloads->Increment();
        log::info("files reloaded", {{"setting", changed.what}, {"file", changed.files.front()}});
    } catch (const std::exception& error) {
        // A file that is being replaced must not take a secret away: the old content stays in use.
        changed.is_current->Set(0);
        log::error(
            "files not reloaded, the old content stays in use",
            {{"setting", changed.what}, {"file", changed.files.front()}, {"error", error.what()}});
    }
}

void file_watch::start()
{
    task_.start();
}

std::string read_small_file(const std::string& file, std::size_t max_bytes)
{
    std::ifstream in(file, std::ios::binary);
    std::string content(max_bytes + 1, '\0');
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (!in.is_open() || in.bad())
        throw std::runtime_error("cannot read " + file);
    content.resize(static_cast<std::size_t>(in.gcount()));
    if (content.size() > max_bytes)
        throw std::runtime_error(file + " has more than " + std::to_string(max_bytes) + " bytes");
    return content;
}

std::string read_one_line(const std::string& file)
{
    auto content = read_small_file(file, 4096);
    if (content.ends_with('\n'))
        content.pop_back();
    if (content.ends_with('\r'))
        content.pop_back();
    if (content.empty())
        throw std::runtime_error(file + " is empty");
    if (content.find_first_of("\r\n") != std::string::npos)
        throw std::runtime_error(file + " has more than one line");
    return content;
}

} // namespace tempinbox::runtime
