#pragma once

#include "common/async/fair_pool.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/email_filter.hpp"
#include "mime/view.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::inbox {

// Reads messages, with the digests of their attachments, on its own threads, since a large one
// would block the loop too long. Accounts take turns. One of them has at most one thread less than
// there are, and an eighth of `max_bytes` for its messages that wait or are read, though one always
// fits (docs/decisions/0027): past that it gets unavailable, and so does whoever comes when all of
// them hold `max_bytes`. What is not read by its deadline is unavailable, too; if it has not begun
// by then, it is never read.
class message_parser
{
public:
    static constexpr std::size_t default_max_bytes = 256 * 1024 * 1024;

    message_parser(runtime::host& host, int threads, const mime::view_limits& limits = {},
                   std::size_t max_bytes = default_max_bytes);

    awaitable<result<mime::view>> read(account_id account, std::string raw, async::deadline until);

    // What filters look at, of several messages in one turn.
    awaitable<result<std::vector<mailbox::message_texts>>>
    read_texts(account_id account, std::vector<std::string> raw, async::deadline until);

    // The decoded bytes; absent if the message has no such part.
    awaitable<result<std::optional<std::string>>> read_attachment(account_id account,
                                                                  std::string raw,
                                                                  std::string attachment_id,
                                                                  async::deadline until);

    const mime::view_limits& limits() const { return limits_; }

private:
    class reserved_bytes;

    bool has_room(account_id account, std::size_t bytes) const;

    const mime::view_limits limits_;
    const std::size_t max_bytes_;
    std::size_t bytes_ = 0;                         // of messages that wait or are read
    std::map<account_id, std::size_t> of_accounts_; // those that have any
    async::fair_pool<account_id> threads_;
};

} // namespace tempinbox::inbox
