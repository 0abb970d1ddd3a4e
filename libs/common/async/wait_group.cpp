#include "common/async/wait_group.hpp"

namespace tempinbox::async {

wait_group::wait_group(boost::asio::any_io_executor executor, std::size_t count)
    : count_(count),
      all_done_(std::move(executor))
{
    if (count_ == 0)
        all_done_.set();
}

void wait_group::add(std::size_t count)
{
    count_ += count;
    if (count_ > 0)
        all_done_.reset();
}

void wait_group::done()
{
    if (--count_ == 0)
        all_done_.set();
}

} // namespace tempinbox::async
