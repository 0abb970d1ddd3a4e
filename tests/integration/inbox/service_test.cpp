#include "common/rpc/inbox_methods.hpp"
#include "integration/inbox/running_service.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace std::chrono_literals;

namespace {

std::int64_t version_of_state(const kafka::record& published)
{
    if (published.is_tombstone)
        return std::stoll(std::string(published.header("inbox_version").value()));
    events::v1::InboxState state;
    REQUIRE(state.ParseFromString(published.value));
    return state.version();
}

} // namespace

TEST_CASE("an inbox made by RPC can be read and listed, and its event is published",
          "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();

    const auto made = running.create(account).value().inbox();
    v1::GetInboxRequest get;
    get.set_account_id(account);
    get.set_inbox_id(made.inbox_id());
    v1::ListInboxesRequest list;
    list.set_account_id(account);

    CHECK(running.call<v1::GetInboxResponse>("GetInbox", get).value().inbox().email_address() ==
          made.email_address());
    CHECK(running.call<v1::ListInboxesResponse>("ListInboxes", list).value().inboxes_size() == 1);
    const auto* event = running.wait_for("inbox.created", made.inbox_id());
    REQUIRE(event != nullptr);
    CHECK(events::read_inbox_created(*event).value().email_address() == made.email_address());
    CHECK(testing::eventually(
        [&] { return running.scratch.execute("SELECT 1 FROM mailbox.outbox").empty(); }));
}

TEST_CASE(
    "inbox.state tells an inbox's making, its new TTL, its end and that it was purged, in order",
    "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();
    v1::UpdateInboxRequest extend;
    extend.mutable_account()->set_account_id(account);
    extend.mutable_account()->mutable_limits()->set_max_ttl_seconds(7'200);
    extend.set_inbox_id(made.inbox_id());
    extend.set_ttl_seconds(7'200);
    running.call<v1::UpdateInboxResponse>("UpdateInbox", extend).value();
    v1::DeleteInboxRequest remove;
    remove.set_account_id(account);
    remove.set_inbox_id(made.inbox_id());
    running.call<v1::DeleteInboxResponse>("DeleteInbox", remove).value();
    REQUIRE(testing::eventually(
        [&] { return running.scratch.execute("SELECT 1 FROM mailbox.outbox").empty(); }, 20s));
    running.scratch.execute("UPDATE mailbox.inboxes SET expired_at = now() - interval '31 days'");
    mailbox::purge_repository purge(running.scratch.db(), "another process");
    testing::await(purge.purge_inboxes(24h * 30));
    running.scratch.execute("UPDATE mailbox.outbox SET lease_until = now() - interval '1 second' "
                            "WHERE owner = 'another process'");

    // Each version once: the newest is published again where an older one was removed after it.
    const auto states = [&] {
        std::set<std::int64_t> seen;
        std::vector<kafka::record> found;
        for (const auto& one : running.events)
            if (one.topic == "inbox.state" && one.key == made.inbox_id() &&
                seen.insert(version_of_state(one)).second)
                found.push_back(one);
        return found;
    };
    REQUIRE(testing::eventually([&] { return states().size() == 4; }, 20s));

    const auto found = states();
    for (int i = 0; i < 3; ++i) {
        events::v1::InboxState state;
        REQUIRE(state.ParseFromString(found[static_cast<std::size_t>(i)].value));
        CHECK(state.version() == i + 1);
        CHECK(state.status() ==
              (i == 2 ? events::v1::INBOX_STATUS_EXPIRED : events::v1::INBOX_STATUS_ACTIVE));
    }
    CHECK(found[3].is_tombstone);
    CHECK(found[3].header("inbox_version") == "4");
}

TEST_CASE("an inbox that holds all it can is reported as full", "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();
    v1::GetInboxRequest get;
    get.set_account_id(account);
    get.set_inbox_id(made.inbox_id());
    const auto is_full = [&] {
        return running.call<v1::GetInboxResponse>("GetInbox", get).value().inbox().is_full();
    };

    running.scratch.execute(
        "UPDATE mailbox.inboxes SET email_count = 9999, email_bytes = 1073741823");
    CHECK_FALSE(is_full());
    running.scratch.execute("UPDATE mailbox.inboxes SET email_count = 10000, email_bytes = 0");
    CHECK(is_full());
    running.scratch.execute("UPDATE mailbox.inboxes SET email_count = 1, email_bytes = 1073741824");
    CHECK(is_full());
}

TEST_CASE("an inbox ends when it is due, and its event is published within two seconds",
          "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();

    running.scratch.execute("UPDATE mailbox.inboxes SET expires_at = now() + interval '700 ms'");
    const auto* event = running.wait_for("inbox.expired", made.inbox_id());

    REQUIRE(event != nullptr);
    const auto expired = events::read_inbox_expired(*event).value();
    CHECK(expired.reason() == events::v1::EXPIRY_REASON_TTL);
    const auto due_millis =
        expired.expired_at().seconds() * 1'000 + expired.expired_at().nanos() / 1'000'000;
    CHECK(event->timestamp_millis - due_millis < 2'000);
    CHECK(event->timestamp_millis >= due_millis);
}

TEST_CASE(
    "an inbox can be ended by its account alone, and its mail is gone from the disk soon after",
    "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();
    running.add_email(account, made);
    v1::DeleteInboxRequest request;
    request.set_inbox_id(made.inbox_id());

    request.set_account_id(account_id::make().text());
    const auto by_another = running.call<v1::DeleteInboxResponse>("DeleteInbox", request);
    request.set_account_id(account);
    const auto by_owner = running.call<v1::DeleteInboxResponse>("DeleteInbox", request);
    const auto again = running.call<v1::DeleteInboxResponse>("DeleteInbox", request);

    CHECK(by_another.error().code == errc::not_found);
    CHECK(by_owner);
    CHECK(again.error().code == errc::not_found);
    CHECK(running.wait_for("inbox.expired", made.inbox_id()) != nullptr);
    CHECK(testing::eventually(
        [&] { return running.scratch.execute("SELECT 1 FROM mailbox.emails").empty(); }));
}

TEST_CASE("what was refused of an inbox is for its account alone, also after its end",
          "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();
    v1::ListRejectionsRequest request;
    request.set_account_id(account);
    request.set_inbox_id(made.inbox_id());
    const auto before = running.call<v1::ListRejectionsResponse>("ListRejections", request);
    v1::DeleteInboxRequest end;
    end.set_account_id(account);
    end.set_inbox_id(made.inbox_id());
    running.call<v1::DeleteInboxResponse>("DeleteInbox", end).value();
    mailbox::new_rejection one;
    one.account = account_id::parse(account).value();
    one.inbox = inbox_id::parse(made.inbox_id()).value();
    one.reason = to_text(mailbox::rejection_reason::inbox_ended);
    one.mail_from = "ann@sender.test";
    one.reply = "550 5.1.1 No such mailbox here";
    one.attempts = 2;
    one.first_at = one.last_at = system_clock_source{}.now();
    testing::await(running.mail.note_rejections({one}));

    const auto after = running.call<v1::ListRejectionsResponse>("ListRejections", request);
    request.set_account_id(account_id::make().text());
    const auto by_another = running.call<v1::ListRejectionsResponse>("ListRejections", request);

    CHECK(before.value().rejections().empty());
    REQUIRE(after.value().rejections_size() == 1);
    const auto& shown = after->rejections(0);
    CHECK(shown.reason() == "inbox_ended");
    CHECK(shown.mail_from() == "ann@sender.test");
    CHECK(shown.reply() == "550 5.1.1 No such mailbox here");
    CHECK(shown.attempts() == 2);
    CHECK(shown.has_first_at());
    CHECK(shown.has_last_at());
    CHECK(by_another.error().code == errc::not_found);
}

TEST_CASE("events of a process that died are published by another", "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    mailbox::inbox_repository dead(running.scratch.db(), "dead process");
    mailbox::new_inbox requested;
    requested.account.account = account_id::make();
    requested.id = inbox_id::make();
    testing::await(dead.create(requested, system_clock_source{}.now())).value();

    running.scratch.execute("UPDATE mailbox.outbox SET lease_until = now() - interval '1 second' "
                            "WHERE owner = 'dead process'");

    CHECK(running.wait_for("inbox.created", requested.id.text()) != nullptr);
}

TEST_CASE("plans and limits are taken from account.state", "[inbox][postgres][kafka]")
{
    running_service running;
    plans::account_state state;
    state.account = account_id::make();
    state.version = 17;
    kafka::producer producer(testing::test_host(), running.cluster);

    producer.send(events::make_row(state, event_id::make(), trace::traceparent::make()).message,
                  [](bool) {});
    CHECK(testing::eventually(
        [&] {
            return !running.scratch
                        .execute("SELECT 1 FROM mailbox.account_states WHERE version = 17 AND "
                                 "account_id = '" +
                                 state.account.text() + "'")
                        .empty();
        },
        30s));

    state.is_deleted = true;
    state.version = 20;
    producer.send(events::make_row(state, event_id::make(), trace::traceparent::make()).message,
                  [](bool) {});
    CHECK(testing::eventually([&] {
        return !running.scratch
                    .execute("SELECT 1 FROM mailbox.account_states WHERE version = 20 AND "
                             "account_id = '" +
                             state.account.text() + "'")
                    .empty();
    }));
    CHECK(running.create(state.account.text()).error().code == errc::permission_denied);
}

TEST_CASE("a deleted account's inboxes end with their events and their mail goes",
          "[inbox][deleted-account][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make();
    const auto first = running.create(account.text()).value().inbox(),
               second = running.create(account.text()).value().inbox();
    const auto email = running.add_email(account.text(), first);
    mailbox::new_attempt attempt;
    attempt.at = system_clock_source{}.now();
    attempt.key = {account, inbox_id::parse(first.inbox_id()).value(), uuid::make_v7()};
    testing::await(mailbox::attempt_repository(running.scratch.db()).record({attempt}));

    SECTION("by its tombstone")
    {
        plans::account_state state;
        state.account = account;
        state.version = 17;
        state.is_deleted = true;
        kafka::producer producer(testing::test_host(), running.cluster);
        producer.send(events::make_row(state, event_id::make(), trace::traceparent::make()).message,
                      [](bool) {});
        testing::await(producer.flush(10s));
    }
    SECTION("also when the process that marked it died at once")
    {
        testing::await(
            mailbox::account_state_repository(running.scratch.db()).mark_deleted(account, 17));
    }

    for (const auto& inbox : {first, second}) {
        const auto* event = running.wait_for("inbox.expired", inbox.inbox_id());
        REQUIRE(event != nullptr);
        CHECK(events::read_inbox_expired(*event).value().reason() ==
              events::v1::EXPIRY_REASON_DELETED);
    }
    v1::GetEmailRequest request;
    request.set_account_id(account.text());
    request.set_email_id(email);
    CHECK(running.call<v1::GetEmailResponse>("GetEmail", request).error().code == errc::not_found);
    CHECK(testing::eventually(
        [&] { return running.scratch.execute("SELECT 1 FROM mailbox.emails").empty(); }));
    CHECK(testing::eventually(
        [&] { return running.scratch.execute("SELECT 1 FROM mailbox.attempts").empty(); }));
}

TEST_CASE("a report of senders is for the account whose inbox has faults, and for no other",
          "[inbox][senders][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make();
    const auto plain = running.create(account.text()).value().inbox(),
               faulty = running.create(account.text()).value().inbox();
    v1::SetFaultsRequest faults;
    faults.set_account_id(account.text());
    faults.set_inbox_id(faulty.inbox_id());
    auto& step = *faults.mutable_steps()->add_steps();
    step.set_stage("rcpt");
    step.set_reply("451 4.7.1 Later");
    REQUIRE(running.call<v1::SetFaultsResponse>("SetFaults", faults));
    mailbox::new_attempt attempt;
    attempt.at = system_clock_source{}.now();
    attempt.key = {account, inbox_id::parse(faulty.inbox_id()).value(), uuid::make_v7()};
    attempt.what.set_stage("mail");
    attempt.what.set_code(451);
    testing::await(mailbox::attempt_repository(running.scratch.db()).record({attempt}));
    const auto report_of = [&](const std::string& owner, const v1::Inbox& of) {
        v1::GetSenderReportRequest request;
        request.set_account_id(owner);
        request.set_inbox_id(of.inbox_id());
        return running.call<v1::GetSenderReportResponse>("GetSenderReport", request);
    };

    const auto found = report_of(account.text(), faulty);
    REQUIRE(found);
    REQUIRE(found->report().messages_size() == 1);
    CHECK(found->report().messages(0).attempts(0).stage() == "mail");
    CHECK(report_of(account.text(), plain).error().code == errc::not_found);
    CHECK(report_of(account_id::make().text(), faulty).error().code == errc::not_found);
}

TEST_CASE("a call without the token is refused", "[inbox][postgres][kafka]")
{
    running_service running;
    token_file wrong;
    std::ofstream(wrong.path) << "another token of enough length\n";
    rpc::tokens tokens(wrong.path);
    rpc::client client(testing::test_host(), {running.service->rpc_address()}, tokens);

    const auto refused = testing::await(client.call(inbox_methods::list_domains, {}));

    CHECK(refused.error().code == errc::unauthenticated);
}
