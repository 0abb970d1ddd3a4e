#pragma once

#include "common/crypto/digest.hpp"
#include "common/events/events.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/domain_repository.hpp"
#include "mailbox/expiry_repository.hpp"
#include "mailbox/inbox_repository.hpp"
#include "mailbox/ingest_repository.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

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

// A request for an inbox of this address; `*`: a catch-all.
inline new_inbox named(const plans::account_state& account, std::string local_part,
                       std::string domain)
{
    new_inbox requested;
    requested.account = account;
    requested.id = inbox_id::make();
    requested.local_part = std::move(local_part);
    requested.domain = std::move(domain);
    return requested;
}

// A message with fixed texts to inboxes, as mail-ingest makes it.
inline std::shared_ptr<new_message>
make_message(const std::vector<inbox>& to, const std::string& raw = "Subject: hi\r\n\r\nhello\r\n")
{
    auto message = std::make_shared<new_message>();
    message->body = body_id::make();
    message->frame = compress(raw);
    message->sha256 = crypto::sha256(raw);
    message->size = static_cast<std::int64_t>(raw.size());
    message->received_at = now();
    message->from = "ann@example.org";
    message->from_name = "Ann";
    message->subject = "Subject 1";
    message->preview = "preview";
    message->message_id = "<1@example.org>";
    message->header_addresses =
        to_json(header_addresses{{{"List", "list@example.org"}}, {{"Cy", "cy@example.org"}}, {}});
    message->mail_from = "bounce@example.org";
    message->remote_address = "192.0.2.1";
    message->helo = "mx.example.org";
    message->tls = "TLSv1.3";
    message->codes = R"([{"value":"123456","score":1,"part":"text","offset":5}])";
    message->links = R"([{"url":"https://example.org/v","text":"Verify","kind":"verify"}])";
    message->defects = {"bare_newline"};
    for (const auto& each : to) {
        auto& delivery = message->deliveries.emplace_back();
        delivery.account = each.account;
        delivery.inbox = each.id;
        delivery.id = email_id::make();
        delivery.rcpt_to = {each.address};
        events::v1::EmailReceived event;
        event.set_email_id(delivery.id.text());
        event.set_inbox_id(each.id.text());
        event.set_account_id(each.account.text());
        event.set_subject(message->subject);
        delivery.event = events::make_row(event, trace::traceparent::make());
    }
    return message;
}

// Throws if a delivery is not stored.
inline void store(ingest_repository& mail, const mail_batch& batch)
{
    for (const auto& results : testing::await(mail.store(batch)))
        for (const auto& one : results.value())
            if (one.status != delivery_status::stored)
                throw std::logic_error("an email of the test was not stored");
}

// Stores `count` emails with subjects from "Subject `first`" on.
inline void store_emails(ingest_repository& mail, const inbox& to, int count,
                         std::int64_t first = 1)
{
    std::vector<email_id> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(email_id::make());
    std::sort(ids.begin(), ids.end()); // in the order of the sequences also within a millisecond
    mail_batch batch;
    for (const auto& id : ids) {
        auto message = make_message({to}, "mail");
        message->subject = "Subject " + std::to_string(first++);
        message->deliveries.front().id = id;
        batch.push_back(message);
        if (batch.size() == 128 || id == ids.back())
            store(mail, std::exchange(batch, {}));
    }
}

// A database with one domain and the repositories on it.
struct world
{
    testing::scratch_database scratch{{"mailbox"}};
    domain_repository domains{scratch.db()};
    inbox_repository inboxes{scratch.db(), "test"};
    expiry_repository endings{scratch.db(), "test", std::chrono::hours(24 * 30)};
    ingest_repository mail{testing::test_host(), scratch.db(), {}};

    world() { testing::await(domains.add("mail.test", std::nullopt)).value(); }

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

    inbox create_tagged(const plans::account_state& state, std::vector<std::string> tags)
    {
        new_inbox requested;
        requested.account = state;
        requested.id = inbox_id::make();
        requested.tags = std::move(tags);
        return testing::await(inboxes.create(requested, now())).value().inbox;
    }

    // `*`: a catch-all; the domain then has to take subdomains.
    inbox create_on(const plans::account_state& state, std::string local_part, std::string domain)
    {
        auto requested = named(state, std::move(local_part), std::move(domain));
        return testing::await(inboxes.create(std::move(requested), now())).value().inbox;
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

    // Writes bodies of no email into the hour's partition.
    void add_bodies(time_point hour, int count = 1)
    {
        scratch.execute(
            "INSERT INTO mailbox.bodies (body_hour, body_id, account_id, raw) SELECT "
            "date_trunc('hour', mailbox.from_micros(" +
            std::to_string(to_unix_micros(hour)) +
            "), 'UTC'), gen_random_uuid(), gen_random_uuid(), 'x' FROM generate_series(1, " +
            std::to_string(count) + ")");
    }

    // Writes live inboxes of the account without their addresses, each a millisecond younger.
    void add_many_inboxes(account_id account, int count)
    {
        scratch.execute("INSERT INTO mailbox.inboxes (account_id, inbox_id, email_address, "
                        "created_at, expires_at) SELECT '" +
                        account.text() +
                        "', gen_random_uuid(), n || '@mail.test', now() + n * interval '1 ms', "
                        "now() + interval '1 day' FROM generate_series(1, " +
                        std::to_string(count) + ") AS n");
    }

    // Stores a message with its email in each inbox, as mail-ingest does; returns its body's id.
    // Its subject is "Subject n", of the sequence in the first inbox.
    body_id add_email(const std::vector<inbox>& to, const std::string& raw)
    {
        auto message = make_message(to, raw);
        message->subject = "Subject " + std::to_string(read(to.front()).last_sequence + 1);
        store(mail, {message});
        return message->body;
    }

    // Stores `count` emails that differ in their subjects, "Subject n" of the sequence.
    void add_emails(const inbox& to, int count)
    {
        store_emails(mail, to, count, read(to).last_sequence + 1);
    }

    // The inbox as it is at present.
    inbox read(const inbox& of) { return testing::await(inboxes.find(of.account, of.id)).value(); }
};

} // namespace tempinbox::mailbox::seeds
