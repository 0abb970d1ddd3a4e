#pragma once

#include "mail-ingest/ingest/memory_budget.hpp"
#include "mail-ingest/ingest/spool_folder.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// A message while it arrives: in memory up to a size, or as long as the budget has room; past that
// in a file, as long as there is room on the disk. One owner, on the loop; the finished bytes may
// be read from any thread.
class spool
{
public:
    spool(memory_budget& budget, std::size_t max_memory_bytes, spool_folder& folder);
    ~spool();
    spool(const spool&) = delete;

    // False when there is no room for it, neither in memory nor on the disk: the message is lost.
    // What goes to the disk is kept in memory until `write`; where the memory of all is used up it
    // is written at once.
    bool append(std::string_view bytes);
    std::uint64_t size() const { return size_; }

    // Before more is received: waits for the disk to take what was appended for it. False when it
    // does not.
    awaitable<bool> write();
    // The whole message; valid until the spool ends. Empty and false where it cannot be read back.
    awaitable<bool> finish();
    std::string_view bytes() const { return bytes_; }

private:
    bool write_now(std::string_view bytes);

    memory_reservation reservation_;
    std::size_t max_memory_bytes_;
    spool_folder& folder_;
    std::string memory_; // all of it, or of a file what is not written yet
    std::shared_ptr<spool_file> file_;
    std::unique_ptr<disk_reservation> disk_reservation_;
    std::uint64_t size_ = 0;
    std::string_view bytes_;
};

} // namespace tempinbox::mail_ingest
