#include "inbox/mail_reader.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::inbox {
namespace {

constexpr std::size_t most_bytes = 256 * 1024 * 1024;

awaitable<mime::view> read_on_this_thread(std::string raw)
{
    co_return mime::read_view(raw);
}

// Counts a message for as long as it is held.
class hold
{
public:
    hold(std::size_t& total, std::size_t bytes) : total_(total), bytes_(bytes) { total_ += bytes_; }
    ~hold() { total_ -= bytes_; }
    hold(const hold&) = delete;

private:
    std::size_t& total_;
    std::size_t bytes_;
};

} // namespace

awaitable<result<mime::view>> mail_reader::read(std::string raw)
{
    if (bytes_under_way_ + raw.size() > most_bytes && bytes_under_way_ > 0)
        co_return failure{errc::unavailable, "Too many large messages are being read; try again"};
    const hold counted(bytes_under_way_, raw.size());
    auto reading = read_on_this_thread(std::move(raw));
    auto view = co_await boost::asio::co_spawn(threads_.get_executor(), std::move(reading), boost::asio::use_awaitable);
    co_return view;
}

} // namespace tempinbox::inbox
