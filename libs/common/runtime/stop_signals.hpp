#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>

namespace tempinbox::runtime {

// SIGTERM and SIGINT of the process: the first calls back on the loop, the second ends the process
// with exit code 1 at once, even if the loop hangs. SIGPIPE and SIGHUP are ignored. One instance
// per process.
class stop_signals
{
public:
    stop_signals(boost::asio::io_context& loop, std::function<void()> on_first);

private:
    boost::asio::posix::stream_descriptor wake_up_;
};

} // namespace tempinbox::runtime
