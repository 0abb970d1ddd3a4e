#include "accounts/account_repository.hpp"
#include "accounts/api_key.hpp"
#include "accounts/key_repository.hpp"
#include "accounts/restore.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/events/events.hpp"
#include "common/kafka/group_offsets.hpp"
#include "common/kafka/topics.hpp"
#include "common/postgres/dsn.hpp"
#include "integration/common/kafka/sent.hpp"
#include "mailbox/domain_repository.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_repository.hpp"
#include "tempinboxctl/program.hpp"
#include "tempinboxctl/topic_content.hpp"

#include <catch2/catch.hpp>

#include <pqxx/pqxx>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

constexpr const char* mail_domain = "restored.test";

int run(std::vector<std::string> words)
{
    words.insert(words.begin(), "tempinboxctl");
    std::vector<const char*> argv;
    for (const auto& word : words)
        argv.push_back(word.c_str());
    return ctl::run(static_cast<int>(argv.size()), argv.data());
}

time_point now()
{
    return system_clock_source{}.now();
}

// A database as a restore left it, and a Kafka that has seen more: a later version of the account,
// another account, an inbox that is lost, the end of one that lives.
class restored_suite
{
public:
    static constexpr std::int64_t published_version = 1'000'000;

    testing::scratch_database scratch;
    accounts::account_repository accounts{scratch.db(), accounts::state_publisher("test", nullptr)};
    accounts::key_repository keys{scratch.db()};
    accounts::sign_in_repository sign_in{scratch.db()};
    mailbox::domain_repository domains{scratch.db()};
    mailbox::inbox_repository inboxes{scratch.db(), "test"};
    std::string group = "group." + uuid::make_v7().text();
    time_point moment = now();
    plans::account_state state;
    std::optional<accounts::created_key> key;
    account_id lost_account = account_id::make();
    mailbox::inbox lost_inbox;
    std::vector<kafka::group_position> committed;

    restored_suite()
    {
        std::vector<kafka::topic_spec> topics;
        for (const auto& name : topic_names())
            topics.push_back({name, 3, 1, {}});
        topics.push_back({events::topics::account_state, 3, 1, {}});
        kafka::apply_topics(testing::test_cluster(), topics, 30s).value();

        state = await(accounts.create(account_id::make(), "a@example.com", "premium", "hash"))
                    .value()
                    .state;
        key = await(keys.create(state.account, key_id::make(), "k", accounts::key_allowance::plan))
                  .value();
        await(sign_in.open_session("session", state.account, "hash"));
        await(domains.add(mail_domain, std::nullopt));
        mailbox::new_inbox requested;
        requested.account = state;
        requested.id = inbox_id::make();
        const auto live = await(inboxes.create(requested, now())).value().inbox;
        scratch.execute("DELETE FROM accounts.outbox");
        scratch.execute("INSERT INTO webhooks.feeds (account_id, server) VALUES ('" +
                        state.account.text() + "', webhooks.feed_server())");
        publish(live);
        commit_ends();
    }

    std::vector<std::string> words(const std::string& verb,
                                   std::vector<std::string> more = {}) const
    {
        std::vector<std::string> all{"restore",
                                     verb,
                                     "--group=" + group,
                                     "--margin=0",
                                     "--database=" + scratch.dsn(),
                                     "--kafka-brokers=" + testing::test_brokers()};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    int check() const { return run(words("check", {moment_option()})); }
    int settle(std::vector<std::string> more = {}) const
    {
        more.push_back(moment_option());
        more.push_back("--force");
        return run(words("settle", std::move(more)));
    }
    std::string moment_option() const { return "--moment=" + to_iso8601(moment); }

    std::int64_t number(const std::string& sql)
    {
        return scratch.execute(sql)[0][0].as<std::int64_t>();
    }
    bool is_accepted()
    {
        return await(keys.find_by_digest(accounts::api_key_digest(key->key.reveal())))
            .owner.has_value();
    }
    std::vector<kafka::group_position> positions() const
    {
        return kafka::find_group_positions(testing::test_cluster(), group, topic_names(), moment,
                                           30s)
            .value();
    }
    // What a settled database looks like.
    void check_settled()
    {
        CHECK(number("SELECT count(*) FROM accounts.restores WHERE settled_at IS NOT NULL") == 1);
        CHECK(number("SELECT version FROM accounts.changes") > published_version);
        CHECK(number("SELECT count(*) FROM accounts.outbox WHERE payload IS NOT NULL AND key = '" +
                     state.account.text() + "'") == 1);
        CHECK(number("SELECT count(*) FROM accounts.outbox WHERE payload IS NULL AND key = '" +
                     lost_account.text() + "'") == 1);
        CHECK(number("SELECT count(*) FROM mailbox.inboxes WHERE last_sequence = 1000000") == 1);
        CHECK(number("SELECT count(*) FROM mailbox.addresses WHERE state = 'quarantined' AND "
                     "address = '" +
                     lost_inbox.address + "'") == 1);
        CHECK(number("SELECT count(*) FROM webhooks.feeds WHERE server = 'restored'") == 1);
    }

private:
    static std::vector<std::string> topic_names()
    {
        return {events::topics::email_received, events::topics::inbox_created,
                events::topics::inbox_expired};
    }

    void publish(const mailbox::inbox& live)
    {
        auto later = state;
        later.version = published_version;
        auto stranger = state;
        stranger.account = lost_account;
        stranger.version = published_version - 1;
        lost_inbox = live;
        lost_inbox.id = inbox_id::make();
        lost_inbox.address = "lost-" + uuid::make_v7().text() + "@" + mail_domain;
        lost_inbox.created_at = now();
        mailbox::ended_inbox ended;
        ended.event = event_id::make();
        ended.account = live.account;
        ended.id = live.id;
        ended.address = live.address;
        ended.expired_at = now();
        const auto cause = trace::traceparent::make();
        std::vector<kafka::message> messages{
            events::make_row(later, event_id::make(), cause).message,
            events::make_row(stranger, event_id::make(), cause).message,
            mailbox::make_created_event(live, event_id::make()).message,
            mailbox::make_created_event(lost_inbox, event_id::make()).message,
            mailbox::make_expired_event(ended).message};
        await(ctl::write_messages(testing::test_host(), testing::test_cluster(),
                                  std::move(messages), 20s))
            .value();
    }

    // As if the group had read everything.
    void commit_ends()
    {
        for (const auto& topic : topic_names())
            for (int partition = 0; partition < 3; ++partition) {
                kafka::group_position position;
                position.topic = topic;
                position.partition = partition;
                committed.push_back(position);
            }
        const auto cluster = testing::test_cluster();
        kafka::set_group_positions(cluster, group, committed, 30s).value();
        committed =
            kafka::find_group_positions(cluster, group, topic_names(), now() + 1h, 30s).value();
        kafka::set_group_positions(cluster, group, committed, 30s).value();
    }
};

} // namespace

TEST_CASE("restore settle settles a restored database, and does nothing the second time",
          "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;
    CHECK(restored.check() == 1);

    REQUIRE(restored.settle({"--set-offsets"}) == 0);

    restored.check_settled();
    CHECK(restored.number("SELECT count(*) FROM accounts.sessions") == 0);
    CHECK_FALSE(restored.is_accepted());
    std::int64_t moved = 0;
    const auto positions = restored.positions();
    REQUIRE(positions.size() == restored.committed.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        CHECK(positions[i].committed == positions[i].at_time);
        moved += restored.committed[i].at_time - positions[i].committed;
    }
    CHECK(moved >= 3); // two creations and an end

    const auto version = restored.number("SELECT version FROM accounts.changes");
    REQUIRE(run({"key", "activate", restored.key->record.id.text(),
                 "--database=" + restored.scratch.dsn()}) == 0);
    await(restored.sign_in.open_session("later", restored.state.account, "hash"));
    CHECK(restored.check() == 0);
    CHECK(restored.settle({"--set-offsets"}) == 0);

    restored.check_settled();
    CHECK(restored.is_accepted());
    CHECK(restored.number("SELECT count(*) FROM accounts.sessions") == 1);
    CHECK(restored.number("SELECT version FROM accounts.changes") == version + 1); // the key's
}

TEST_CASE("restore check and a dry run change nothing", "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;
    const auto version = restored.number("SELECT version FROM accounts.changes");

    CHECK(restored.check() == 1);
    CHECK(restored.settle({"--dry-run", "--set-offsets"}) == 0);

    CHECK(restored.is_accepted());
    CHECK(restored.number("SELECT version FROM accounts.changes") == version);
    CHECK(restored.number("SELECT count(*) FROM accounts.restores") == 0);
    CHECK(restored.number("SELECT count(*) FROM accounts.outbox") == 0);
    CHECK(restored.number("SELECT count(*) FROM accounts.sessions") == 1);
    CHECK(restored.number("SELECT count(*) FROM mailbox.inboxes WHERE last_sequence = 0") == 1);
    CHECK(restored.number(
              "SELECT count(*) FROM webhooks.feeds WHERE server = webhooks.feed_server()") == 1);
    for (const auto& one : restored.positions())
        CHECK(one.committed >= one.at_time);
}

TEST_CASE("with --keep-keys a restore leaves keys alone",
          "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;

    REQUIRE(restored.settle({"--keep-keys"}) == 0);

    restored.check_settled();
    CHECK(restored.is_accepted());
    CHECK(restored.number("SELECT count(*) FROM accounts.sessions") == 0);
    CHECK(restored.number("SELECT count(*) FROM accounts.restores WHERE offsets_set_at IS NULL") ==
          1);
    // The offsets may follow.
    CHECK(restored.settle({"--set-offsets"}) == 0);
    CHECK(restored.number("SELECT count(*) FROM accounts.restores WHERE offsets_set_at IS NULL") ==
          0);
}

TEST_CASE("restore settle refuses while a service is connected",
          "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;
    {
        pqxx::connection service(
            postgres::with_default(restored.scratch.dsn(), "application_name", "tempinbox-inbox"));
        REQUIRE(service.is_open());

        CHECK(restored.settle() == 1);

        CHECK(restored.number("SELECT count(*) FROM accounts.restores") == 0);
        CHECK(restored.is_accepted());
    }
    CHECK(testing::eventually([&] { return restored.settle() == 0; }));
}

TEST_CASE("restore settle refuses a database that nothing says was restored",
          "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;
    restored.scratch.execute("UPDATE accounts.changes SET version = 1000000000000000");

    CHECK(run(restored.words("check")) == 0);
    CHECK(run(restored.words("settle", {restored.moment_option()})) == 1);

    CHECK(restored.number("SELECT count(*) FROM accounts.restores") == 0);
    CHECK(restored.is_accepted());
}

TEST_CASE("restore names the option that is wrong", "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;

    CHECK(run(restored.words("settle", {"--force"})) == 2); // nobody knows the moment
    CHECK(run(restored.words("settle", {"--moment=yesterday"})) == 2);
    CHECK(run(restored.words("settle", {"--moment=" + to_iso8601(now() + 1h)})) == 2);
    CHECK(run(restored.words("check", {"--timeout=0"})) == 2);
    CHECK(run(restored.words("settle", {restored.moment_option(), "--quarantine=0"})) == 2);
    CHECK(run({"restore", "check", "--database=" + restored.scratch.dsn()}) == 2); // no brokers
    CHECK(run({"restore", "check", "--kafka-brokers=127.0.0.1:1"}) == 2);          // no database
    CHECK(restored.number("SELECT count(*) FROM accounts.restores") == 0);
}

TEST_CASE("another moment than the one that is being settled is refused",
          "[tempinboxctl][restore][kafka][postgres]")
{
    restored_suite restored;
    const auto server = await(postgres::read_restored_server(restored.scratch.db(), {}));
    accounts::restore begun;
    begun.id = server.restore_id;
    begun.moment = restored.moment - 1h;
    REQUIRE(await(accounts::begin_restore(restored.scratch.db(), begun, 1)));

    CHECK(restored.settle() == 1);
    CHECK(restored.is_accepted());
    CHECK(run(restored.words("settle")) == 0); // the moment that is noted
    CHECK_FALSE(restored.is_accepted());
}
