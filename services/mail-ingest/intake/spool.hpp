#pragma once

#include "mail-ingest/intake/memory_budget.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// A message while it arrives: in memory up to a size, or as long as the budget has room; past that in a file without a name. One
// owner, on the loop; the finished bytes may be read from any thread.
class spool
{
public:
    spool(memory_budget& budget, std::size_t most_in_memory, const std::string& folder);
    ~spool();
    spool(const spool&) = delete;

    // False when there is no room for it, neither in memory nor on the disk: the message is lost.
    bool append(std::string_view bytes);
    std::uint64_t size() const { return size_; }

    // The whole message; valid until the spool ends. Empty and false where it cannot be read back.
    bool finish();
    std::string_view bytes() const { return bytes_; }

private:
    bool move_to_file();
    bool write(std::string_view bytes);

    memory_share share_;
    std::size_t most_in_memory_;
    const std::string& folder_;
    std::string memory_;
    int file_ = -1;
    std::uint64_t size_ = 0;
    void* mapped_ = nullptr;
    std::string_view bytes_;
};

} // namespace tempinbox::mail_ingest
