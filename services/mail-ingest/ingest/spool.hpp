#pragma once

#include "common/core/memory_budget.hpp"
#include "mail-ingest/ingest/spool_folder.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// A message while it arrives: in memory up to `max_memory_bytes` and while the memory budget has
// room, then in a file while the disk budget has room. One owner, on the loop; the finished bytes
// may be read from any thread.
class spool
{
public:
    spool(memory_budget& budget, std::size_t max_memory_bytes, spool_folder& folder);
    ~spool();
    spool(const spool&) = delete;

    // False if neither memory nor disk has room: the message is lost. Bytes for the disk stay in
    // memory until `write`; if the memory budget is used up they are written at once.
    bool append(std::string_view bytes);
    std::uint64_t size() const { return size_; }

    // Call this before receiving more: waits until the disk has taken what was appended. False if
    // it failed to.
    awaitable<bool> write();
    // Makes `bytes` the whole message, valid as long as the spool. False if it cannot be read back.
    awaitable<bool> finish();
    std::string_view bytes() const { return bytes_; }

private:
    bool write_now(std::string_view bytes);

    memory_budget::reservation reservation_;
    std::size_t max_memory_bytes_;
    spool_folder& folder_;
    std::string memory_; // the whole message, or the part the file does not have yet
    std::shared_ptr<spool_file> file_;
    memory_budget::reservation disk_reservation_;
    std::uint64_t size_ = 0;
    std::string_view bytes_;
};

} // namespace tempinbox::mail_ingest
