#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// Of a row of mailbox.inboxes. It changes with every change of the inbox's emails and never comes
// back to what it was: a list read after a version was is right as long as the inbox still has that
// version. Nothing else is to be read from it.
inline constexpr std::string_view version_column =
    "last_sequence || '-' || email_count || '-' || mail_changes";

// Throws when PostgreSQL cannot be reached.
class list_version_store
{
public:
    explicit list_version_store(postgres::pool& db);

    // In the order asked; empty for an inbox that has ended, is another account's or does not
    // exist.
    awaitable<std::vector<std::string>> find(std::vector<std::pair<account_id, inbox_id>> inboxes);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
