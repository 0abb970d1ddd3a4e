#pragma once

#include "common/core/encoding.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/domain_repository.hpp"
#include "mailbox/expiry_repository.hpp"
#include "mailbox/inbox_repository.hpp"

#include <string>

namespace tempinbox::mailbox::seeds {

inline time_point now()
{
    return system_clock_source{}.now();
}

inline plans::account_state account(int live_inboxes = 10)
{
    plans::account_state state;
    state.account = account_id::make();
    state.plan = "pro";
    state.version = 1;
    state.limits.live_inboxes = live_inboxes;
    state.limits.default_ttl = std::chrono::hours(24);
    state.limits.max_ttl = std::chrono::hours(24 * 7);
    return state;
}

// A database with one domain and the stores on it.
struct world
{
    testing::scratch_database scratch{{"mailbox"}};
    domain_repository domains{scratch.db()};
    inbox_repository inboxes{scratch.db(), "test"};
    expiry_repository endings{scratch.db(), "test", std::chrono::hours(24 * 30)};

    world() { testing::await(domains.add("mail.test", std::nullopt)); }

    result<created_inbox> try_create(const plans::account_state& state,
                                     std::optional<std::string> local_part = std::nullopt)
    {
        new_inbox requested;
        requested.account = state;
        requested.id = inbox_id::make();
        requested.local_part = std::move(local_part);
        return testing::await(inboxes.create(requested, now()));
    }

    inbox create(const plans::account_state& state,
                 std::optional<std::string> local_part = std::nullopt)
    {
        return try_create(state, std::move(local_part)).value().inbox;
    }

    std::int64_t count(const std::string& table_and_condition)
    {
        return scratch.execute("SELECT count(*) FROM mailbox." + table_and_condition)[0][0]
            .as<std::int64_t>();
    }

    // Makes inboxes overdue.
    void make_due(const std::string& condition = "true")
    {
        scratch.execute(
            "UPDATE mailbox.inboxes SET expires_at = now() - interval '3 seconds' WHERE " +
            condition);
    }

    // Inserts a body and its email in each inbox, as mail-ingest stores them; returns the body's
    // id.
    body_id add_email(const std::vector<inbox>& to, const std::string& raw)
    {
        const auto body = body_id::make();
        const std::string hour = "date_trunc('hour', now() + interval '1 hour', 'UTC')";
        scratch.execute("INSERT INTO mailbox.bodies VALUES (" + hour + ", '" + body.text() +
                        "', '\\x" + to_hex(compress(raw)) + "')");
        for (const auto& each : to)
            scratch.execute(
                "WITH i AS (UPDATE mailbox.inboxes SET email_count = email_count + 1, "
                "last_sequence = last_sequence "
                "+ 1, last_email_at = now() "
                "WHERE inbox_id = '" +
                each.id.text() + "' RETURNING *) INSERT INTO mailbox.emails SELECT account_id, '" +
                email_id::make().text() +
                "', inbox_id, last_sequence, now(), 'ann@example.org', 'Ann', 'Subject ' || "
                "last_sequence, "
                "'preview', '<1@example.org>', "
                "ARRAY[email_address], ARRAY['list@example.org'], 'bounce@example.org', "
                "'192.0.2.1', "
                "'mx.example.org', 'TLSv1.3', " +
                std::to_string(raw.size()) +
                ", 0, '[{\"value\":\"123456\",\"score\":1,\"part\":\"text\",\"offset\":5}]', "
                "'[{\"url\":\"https://example.org/v\",\"text\":\"Verify\",\"kind\":\"verify\"}]', "
                "ARRAY['bare_newline'], false, '\\x00', " +
                hour + ", '" + body.text() + "', " + (to.size() > 1 ? "true" : "false") +
                ", 'sql' FROM i");
        return body;
    }
};

} // namespace tempinbox::mailbox::seeds
