#pragma once

#include <prometheus/gauge.h>

#include <cstddef>
#include <limits>

namespace tempinbox::mail_ingest {

// Bounds how many bytes of messages under way all sessions together hold, in memory or in files; 0:
// no bound. Used on the loop alone. The gauge, if given, shows the bytes in use.
class memory_budget
{
public:
    explicit memory_budget(std::size_t max_bytes, prometheus::Gauge* gauge = nullptr)
        : max_bytes_(max_bytes),
          gauge_(gauge)
    {}

    bool take(std::size_t bytes)
    {
        if (max_bytes_ > 0 && used_ + bytes > max_bytes_)
            return false;
        change_to(used_ + bytes);
        return true;
    }
    void give_back(std::size_t bytes) { change_to(used_ - bytes); }
    std::size_t used() const { return used_; }
    std::size_t available() const
    {
        return max_bytes_ > 0 ? max_bytes_ - used_ : std::numeric_limits<std::size_t>::max();
    }
    // Not even a small message would fit.
    bool is_short() const { return max_bytes_ > 0 && used_ + min_message_bytes > max_bytes_; }

private:
    static constexpr std::size_t min_message_bytes = 64 * 1024;

    void change_to(std::size_t bytes)
    {
        used_ = bytes;
        if (gauge_)
            gauge_->Set(static_cast<double>(used_));
    }

    std::size_t max_bytes_;
    std::size_t used_ = 0;
    prometheus::Gauge* gauge_;
};

// A part of the budget; the destructor gives it back.
class memory_reservation
{
public:
    explicit memory_reservation(memory_budget& budget) : budget_(&budget) {}
    memory_reservation(memory_reservation&& other) noexcept
        : budget_(other.budget_),
          bytes_(other.bytes_)
    {
        other.bytes_ = 0;
    }
    memory_reservation(const memory_reservation&) = delete;
    ~memory_reservation() { budget_->give_back(bytes_); }

    bool grow(std::size_t bytes)
    {
        if (!budget_->take(bytes))
            return false;
        bytes_ += bytes;
        return true;
    }
    void clear()
    {
        budget_->give_back(bytes_);
        bytes_ = 0;
    }

private:
    memory_budget* budget_;
    std::size_t bytes_ = 0;
};

} // namespace tempinbox::mail_ingest
