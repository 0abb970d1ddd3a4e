#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/memory_budget.hpp"
#include "common/runtime/completion_queue.hpp"
#include "common/runtime/host.hpp"

#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// A file without a name, created by the first append and removed by the destructor. One thread at a
// time.
class spool_file
{
public:
    explicit spool_file(std::string folder) : folder_(std::move(folder)) {}
    ~spool_file();
    spool_file(const spool_file&) = delete;

    bool append(std::string_view bytes);
    // The whole file, valid as long as this object; empty if it cannot be read back.
    std::string_view read_back(std::size_t size);

private:
    std::string folder_;
    int descriptor_ = -1;
    void* mapped_ = nullptr;
    std::size_t mapped_bytes_ = 0;
};

// The directory for messages too large for memory, with a budget of bytes for all files in it. Its
// own threads write and remove the files, so that a slow disk delays only the session that writes.
// Used on the loop.
class spool_folder
{
public:
    // Makes the directory with mode 0700, or takes one that belongs to this user and that nobody
    // else can write to; removes what a dead process left. Throws if that fails. `max_bytes` 0: no
    // bound.
    spool_folder(runtime::host& host, std::string folder, std::size_t max_bytes);
    ~spool_folder();

    // For the bytes of all files.
    memory_budget& disk() { return disk_; }
    std::shared_ptr<spool_file> open_file() { return std::make_shared<spool_file>(folder_); }
    // Bytes left in the budget.
    std::size_t available() const { return disk_.available(); }

    // False if the disk did not take all bytes within a minute: the file is of no more use.
    awaitable<bool> write(std::shared_ptr<spool_file> file, std::string bytes);
    // The reservation is released once the file is removed.
    void remove(std::shared_ptr<spool_file> file, memory_budget::reservation reservation);

    // Waits until pending writes and removals have ended (blocking, short).
    void stop();

private:
    struct write_job;

    runtime::host& host_;
    std::string folder_;
    memory_budget disk_;
    runtime::completion_queue done_;
    boost::asio::thread_pool workers_;
};

} // namespace tempinbox::mail_ingest
