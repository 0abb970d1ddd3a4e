#include "inbox/reading/message_parser.hpp"

#include <algorithm>
#include <memory>

namespace tempinbox::inbox {
namespace {

constexpr std::size_t min_accounts = 8; // that the memory is enough for

failure no_room()
{
    return failure{errc::unavailable, "Too many large messages are being read; try again"};
}

failure not_in_time()
{
    return failure{errc::unavailable, "The message could not be read in time; try again"};
}

mime::view_limits with_digests(mime::view_limits limits)
{
    limits.with_digests = true;
    return limits;
}

// What a thread reads and what it has found. Whoever waits may leave before the thread ends.
template <class Found, class Raw = std::string>
struct reading
{
    Raw raw;
    Found found{};

    explicit reading(Raw message) : raw(std::move(message)) {}
};

} // namespace

// A message's bytes, counted as long as somebody waits for it.
class message_parser::reserved_bytes
{
public:
    reserved_bytes(message_parser& reader, account_id account, std::size_t bytes)
        : reader_(reader),
          account_(account),
          bytes_(std::max(bytes, std::size_t{1}))
    {
        reader_.bytes_ += bytes_;
        reader_.of_accounts_[account_] += bytes_;
    }
    ~reserved_bytes()
    {
        reader_.bytes_ -= bytes_;
        const auto mine = reader_.of_accounts_.find(account_);
        mine->second -= bytes_;
        if (mine->second == 0)
            reader_.of_accounts_.erase(mine);
    }
    reserved_bytes(const reserved_bytes&) = delete;

private:
    message_parser& reader_;
    account_id account_;
    std::size_t bytes_;
};

message_parser::message_parser(runtime::host& host, int threads, const mime::view_limits& limits,
                               std::size_t max_bytes)
    : limits_(with_digests(limits)),
      max_bytes_(max_bytes),
      threads_(host.executor(), static_cast<std::size_t>(threads),
               static_cast<std::size_t>(std::max(1, threads - 1)))
{}

bool message_parser::has_room(account_id account, std::size_t bytes) const
{
    const auto mine = of_accounts_.find(account);
    if (mine != of_accounts_.end() && mine->second + bytes > max_bytes_ / min_accounts)
        return false;
    return bytes_ == 0 || bytes_ + bytes <= max_bytes_;
}

awaitable<result<mime::view>> message_parser::read(account_id account, std::string raw,
                                                   async::deadline until)
{
    if (!has_room(account, raw.size()))
        co_return no_room();
    const reserved_bytes reserved(*this, account, raw.size());
    const auto mine = std::make_shared<reading<mime::view>>(std::move(raw));
    auto job = [mine, limits = limits_] { mine->found = mime::read_view(mine->raw, limits); };
    if (!co_await threads_.run(account, std::move(job), until))
        co_return not_in_time();
    co_return std::move(mine->found);
}

awaitable<result<std::vector<mailbox::message_texts>>>
message_parser::read_texts(account_id account, std::vector<std::string> raw, async::deadline until)
{
    std::size_t bytes = 0;
    for (const auto& message : raw)
        bytes += message.size();
    if (!has_room(account, bytes))
        co_return no_room();
    const reserved_bytes reserved(*this, account, bytes);
    using found_texts = std::vector<mailbox::message_texts>;
    const auto mine =
        std::make_shared<reading<found_texts, std::vector<std::string>>>(std::move(raw));
    auto limits = limits_;
    limits.with_digests = false;
    auto job = [mine, limits] {
        for (const auto& message : mine->raw)
            mine->found.push_back(mailbox::read_message_texts(mime::read_view(message, limits)));
    };
    if (!co_await threads_.run(account, std::move(job), until))
        co_return not_in_time();
    co_return std::move(mine->found);
}

awaitable<result<std::optional<std::string>>>
message_parser::read_attachment(account_id account, std::string raw, std::string attachment_id,
                                async::deadline until)
{
    // The content may be as large as the message.
    const auto bytes = 2 * raw.size();
    if (!has_room(account, bytes))
        co_return no_room();
    const reserved_bytes reserved(*this, account, bytes);
    const auto mine = std::make_shared<reading<std::optional<std::string>>>(std::move(raw));
    auto job = [mine, id = std::move(attachment_id), limits = limits_] {
        mine->found = mime::read_attachment(mine->raw, id, limits);
    };
    if (!co_await threads_.run(account, std::move(job), until))
        co_return not_in_time();
    co_return std::move(mine->found);
}

} // namespace tempinbox::inbox
