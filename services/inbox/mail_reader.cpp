#include "inbox/mail_reader.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace tempinbox::inbox {
namespace {

awaitable<mime::view> read_on_this_thread(std::string raw, mime::view_limits limits)
{
    co_return mime::read_view(raw, limits);
}

awaitable<std::optional<part>> read_part_on_this_thread(std::string raw, std::string attachment_id,
                                                        mime::view_limits limits)
{
    const auto view = mime::read_view(raw, limits);
    const auto about =
        std::find_if(view.attachments.begin(), view.attachments.end(),
                     [&](const mime::attachment& each) { return each.id == attachment_id; });
    auto content = about == view.attachments.end()
                       ? std::nullopt
                       : mime::read_attachment(raw, attachment_id, limits);
    if (!content)
        co_return std::nullopt;
    part found;
    found.about = *about;
    found.content = std::move(*content);
    co_return found;
}

// Counts a message's bytes as long as it is held.
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

std::optional<failure> mail_reader::refuse(std::size_t bytes) const
{
    if (bytes_under_way_ + bytes > max_bytes_ && bytes_under_way_ > 0)
        return failure{errc::unavailable, "Too many large messages are being read; try again"};
    return std::nullopt;
}

awaitable<result<mime::view>> mail_reader::read(std::string raw)
{
    if (auto refused = refuse(raw.size()))
        co_return std::move(*refused);
    const hold counted(bytes_under_way_, raw.size());
    auto reading = read_on_this_thread(std::move(raw), limits_);
    co_return co_await boost::asio::co_spawn(threads_.get_executor(), std::move(reading),
                                             boost::asio::use_awaitable);
}

awaitable<result<std::optional<part>>> mail_reader::read_part(std::string raw,
                                                              std::string attachment_id)
{
    if (auto refused = refuse(raw.size()))
        co_return std::move(*refused);
    // The content may be as large as the message.
    const hold counted(bytes_under_way_, 2 * raw.size());
    auto reading = read_part_on_this_thread(std::move(raw), std::move(attachment_id), limits_);
    co_return co_await boost::asio::co_spawn(threads_.get_executor(), std::move(reading),
                                             boost::asio::use_awaitable);
}

} // namespace tempinbox::inbox
