#pragma once

#include "common/async/deadline.hpp"
#include "common/core/awaitable.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/list.hpp>

namespace tempinbox::async {

// Something that coroutines of one loop wait for and others report; any number may wait, each until
// its own deadline. `manual`: stays set until `reset`, and `set` wakes everyone. `automatic`: `set`
// wakes the one that waits longest and leaves the event reset; if nobody waits, the next to wait
// goes on at once, however often it was set. Destroying the event ends its waits as if their
// deadlines had passed.
class reset_event
{
public:
    enum class mode { manual, automatic };

    explicit reset_event(boost::asio::any_io_executor executor, mode chosen = mode::manual);
    ~reset_event();
    reset_event(const reset_event&) = delete;

    void set();
    void reset() { is_set_ = false; }
    bool is_set() const { return is_set_; }

    awaitable<void> wait();
    // False if the deadline passed first.
    awaitable<bool> wait_until(deadline until);

private:
    // A part of the coroutine that waits. It leaves the list when woken or destroyed.
    using hook = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
    struct waiter;

    void wake_first(bool is_set);

    boost::asio::any_io_executor executor_;
    mode mode_;
    bool is_set_ = false;
    boost::intrusive::list<hook, boost::intrusive::constant_time_size<false>> waiters_;
};

} // namespace tempinbox::async
