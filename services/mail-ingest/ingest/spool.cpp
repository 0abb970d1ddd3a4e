#include "mail-ingest/ingest/spool.hpp"

namespace tempinbox::mail_ingest {

spool::spool(memory_budget& budget, std::size_t max_memory_bytes, spool_folder& folder)
    : reservation_(budget),
      max_memory_bytes_(max_memory_bytes),
      folder_(folder),
      disk_reservation_(folder.disk())
{}

spool::~spool()
{
    if (file_)
        folder_.remove(std::move(file_), std::move(disk_reservation_));
}

bool spool::append(std::string_view bytes)
{
    size_ += bytes.size();
    if (!file_ && memory_.size() + bytes.size() <= max_memory_bytes_ &&
        reservation_.grow(bytes.size())) {
        memory_.append(bytes);
        return true;
    }
    if (!file_) {
        if (!disk_reservation_.grow(memory_.size()))
            return false;
        file_ = folder_.open_file();
    }
    if (!disk_reservation_.grow(bytes.size()))
        return false;
    if (!reservation_.grow(bytes.size()))
        return write_now(bytes);
    memory_.append(bytes);
    return true;
}

bool spool::write_now(std::string_view bytes)
{
    const bool is_written = file_->append(memory_) && file_->append(bytes);
    memory_ = {};
    reservation_.clear();
    return is_written;
}

awaitable<bool> spool::write()
{
    if (!file_ || memory_.empty())
        co_return true;
    const bool is_written = co_await folder_.write(file_, std::exchange(memory_, {}));
    reservation_.clear();
    co_return is_written;
}

awaitable<bool> spool::finish()
{
    if (!file_) {
        bytes_ = memory_;
        co_return true;
    }
    const bool is_written = co_await write();
    if (is_written)
        bytes_ = file_->read_back(static_cast<std::size_t>(size_));
    co_return is_written&& bytes_.size() == size_;
}

} // namespace tempinbox::mail_ingest
