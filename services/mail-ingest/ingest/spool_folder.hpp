#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/completion_queue.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/ingest/memory_budget.hpp"

#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// A file without a name, made with its first bytes and gone with its last holder. One thread at a
// time.
class spool_file
{
public:
    explicit spool_file(std::string folder) : folder_(std::move(folder)) {}
    ~spool_file();
    spool_file(const spool_file&) = delete;

    bool append(std::string_view bytes);
    // All of it, valid as long as the file; empty where it cannot be read back.
    std::string_view read_back(std::size_t size);

private:
    std::string folder_;
    int descriptor_ = -1;
    void* mapped_ = nullptr;
    std::size_t mapped_bytes_ = 0;
};

// Bytes of the disk that a file holds.
struct disk_reservation
{
    std::shared_ptr<memory_budget> budget;
    memory_reservation reservation{*budget};

    explicit disk_reservation(std::shared_ptr<memory_budget> from) : budget(std::move(from)) {}
};

// Where messages are kept that are too large for memory: a folder of this program's own, and a
// budget of bytes for all files in it. Threads of its own write and remove them, so that a slow
// disk holds up the session that writes and no other. Used on the loop.
class spool_folder
{
public:
    // Makes the folder with mode 0700, or takes one that is the user's own and writable by nobody
    // else, and removes what a process left that died; throws where that cannot be. `most`: 0 is
    // without bound.
    spool_folder(runtime::host& host, std::string folder, std::size_t max_bytes);
    ~spool_folder();

    std::unique_ptr<disk_reservation> open_reservation()
    {
        return std::make_unique<disk_reservation>(disk_);
    }
    std::shared_ptr<spool_file> open_file() { return std::make_shared<spool_file>(folder_); }
    // Bytes for which there is room.
    std::size_t available() const { return disk_->available(); }

    // False where the disk did not take all of it within a minute: the file is of no more use.
    awaitable<bool> write(std::shared_ptr<spool_file> file, std::string bytes);
    // Its share is given back once the disk is.
    void remove(std::shared_ptr<spool_file> file, std::unique_ptr<disk_reservation> reservation);

    // Lets what is under way end (blocking, short).
    void stop();

private:
    struct write_job;

    runtime::host& host_;
    std::string folder_;
    std::shared_ptr<memory_budget> disk_;
    runtime::completion_queue done_;
    boost::asio::thread_pool workers_;
};

} // namespace tempinbox::mail_ingest
