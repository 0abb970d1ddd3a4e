#pragma once

#include <prometheus/gauge.h>

#include <cstddef>
#include <limits>

namespace tempinbox::mail_ingest {

// How much of the messages under way may be held in memory, or in files, by all sessions together;
// 0: without bound. Used on the loop alone. Shown by the gauge, if one is given.
class memory_budget
{
public:
    explicit memory_budget(std::size_t most, prometheus::Gauge* shown = nullptr)
        : most_(most),
          shown_(shown)
    {}

    bool take(std::size_t bytes)
    {
        if (most_ > 0 && used_ + bytes > most_)
            return false;
        change_to(used_ + bytes);
        return true;
    }
    void give_back(std::size_t bytes) { change_to(used_ - bytes); }
    std::size_t used() const { return used_; }
    std::size_t left() const
    {
        return most_ > 0 ? most_ - used_ : std::numeric_limits<std::size_t>::max();
    }
    // Not even a small message would fit.
    bool is_short() const { return most_ > 0 && used_ + smallest > most_; }

private:
    static constexpr std::size_t smallest = 64 * 1024;

    void change_to(std::size_t bytes)
    {
        used_ = bytes;
        if (shown_)
            shown_->Set(static_cast<double>(used_));
    }

    std::size_t most_;
    std::size_t used_ = 0;
    prometheus::Gauge* shown_;
};

// A share of the budget, given back at the end.
class memory_share
{
public:
    explicit memory_share(memory_budget& budget) : budget_(&budget) {}
    memory_share(memory_share&& other) noexcept : budget_(other.budget_), bytes_(other.bytes_)
    {
        other.bytes_ = 0;
    }
    memory_share(const memory_share&) = delete;
    ~memory_share() { budget_->give_back(bytes_); }

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
