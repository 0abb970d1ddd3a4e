#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// SQL over a row of mailbox.inboxes. The version changes with every change of the inbox's emails
// and never repeats: a list read after its version is current as long as the inbox still has that
// version. Compare it for equality only.
inline constexpr std::string_view version_column =
    "last_sequence || '-' || email_count || '-' || mail_changes";

// Throws if PostgreSQL cannot be reached.
class list_version_store
{
public:
    explicit list_version_store(postgres::pool& db);

    // In the given order; empty for an inbox that has ended, is another account's or does not
    // exist.
    awaitable<std::vector<std::string>> find(std::vector<std::pair<account_id, inbox_id>> inboxes);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
