#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

namespace tempinbox {

// A bound on the bytes that large objects share, in memory or on a disk. Reservations may outlive
// the budget. Used on one thread.
class memory_budget
{
    struct state
    {
        std::size_t max_bytes;
        std::function<void(std::size_t)> on_change;
        std::size_t used = 0;

        void change_to(std::size_t bytes)
        {
            used = bytes;
            if (on_change)
                on_change(used);
        }
        std::size_t available() const { return used < max_bytes ? max_bytes - used : 0; }
    };

public:
    static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

    // The bytes of one object; its end frees them.
    class reservation
    {
    public:
        explicit reservation(const memory_budget& budget) : budget_(budget.state_) {}
        reservation(reservation&& other) noexcept
            : budget_(std::move(other.budget_)),
              bytes_(std::exchange(other.bytes_, 0))
        {}
        reservation(const reservation&) = delete;
        ~reservation() { clear(); }

        // False if there is no room for so many more.
        bool grow(std::size_t bytes)
        {
            if (bytes > budget_->available())
                return false;
            add(bytes);
            return true;
        }
        void clear()
        {
            if (bytes_ > 0)
                budget_->change_to(budget_->used - std::exchange(bytes_, 0));
        }

    private:
        friend class memory_budget;

        void add(std::size_t bytes)
        {
            budget_->change_to(budget_->used + bytes);
            bytes_ += bytes;
        }

        std::shared_ptr<state> budget_;
        std::size_t bytes_ = 0;
    };
    using shared_reservation = std::shared_ptr<const void>;

    // `on_change` is called with the bytes in use, as for a gauge.
    explicit memory_budget(std::size_t max_bytes, std::function<void(std::size_t)> on_change = {})
        : state_(std::make_shared<state>(max_bytes, std::move(on_change)))
    {}
    memory_budget(const memory_budget&) = delete;

    // For an object whose size is known before it is created. Null if there is no room; an object
    // alone may exceed the whole budget.
    shared_reservation try_reserve(std::size_t bytes)
    {
        if (state_->used > 0 && bytes > state_->available())
            return nullptr;
        const auto reserved = std::make_shared<reservation>(*this);
        reserved->add(bytes);
        return reserved;
    }

    std::size_t used() const { return state_->used; }
    std::size_t available() const { return state_->available(); }

private:
    std::shared_ptr<state> state_;
};

} // namespace tempinbox
