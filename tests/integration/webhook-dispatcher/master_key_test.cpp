// The operator's master key is rotated: the new key first in the file, then all secrets sealed
// anew, then the old key removed.

#include "integration/webhook-dispatcher/requests.hpp"
#include "unit/common/scratch_folder.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;
using testing::error_of;

namespace {

namespace v1 = webhooks::v1;

std::string key_line(const std::string& id)
{
    return id + ":" + to_base64(crypto::sha256("master key " + id)) + "\n";
}

crypto::keyring keys(const std::vector<std::string>& ids)
{
    std::string text;
    for (const auto& id : ids)
        text += key_line(id);
    return crypto::keyring::parse(text).value();
}

// Replicas by the keys in their files, on one database.
struct operators_suite
{
    testing::scratch_database scratch{{"webhooks"}};
    account_id account = account_id::make();

    std::unique_ptr<testing::dispatcher> replica(const std::vector<std::string>& key_ids)
    {
        return std::make_unique<testing::dispatcher>(
            scratch.dsn(), testing::loopback_policy(), webhooks::engine_limits(),
            webhooks::name_resolver_settings(), keys(key_ids));
    }
    v1::CreateWebhookResponse make_webhook(testing::dispatcher& process)
    {
        return await(process.webhook_rpc.create(
                         testing::webhook_request(account, "https://1.1.1.1/", 100)))
            .value();
    }
    int sealed_with(const std::string& key_id)
    {
        return scratch
            .execute("SELECT count(*) FROM (SELECT sealed_secret FROM webhooks.endpoints UNION ALL "
                     "SELECT sealed_secret FROM "
                     "webhooks.previous_secrets) s WHERE sealed_secret LIKE '" +
                     key_id + ":%'")[0][0]
            .as<int>();
    }
};

v1::ResealSecretsRequest reseal_request(const std::string& key_id, int limit,
                                        const std::string& position = "")
{
    v1::ResealSecretsRequest request;
    request.set_key_id(key_id);
    request.set_limit(limit);
    request.set_position(position);
    return request;
}

// All batches, as the operator's command requests them; returns the numbers of resealed and
// unopened secrets.
std::pair<int, int> reseal_all(testing::dispatcher& process, const std::string& key_id, int limit)
{
    std::pair<int, int> sums;
    std::string position;
    do {
        const auto done =
            await(process.secret_rpc.reseal(reseal_request(key_id, limit, position))).value();
        sums.first += done.resealed();
        sums.second += done.unopened();
        position = done.next_position();
    } while (!position.empty());
    return sums;
}

} // namespace

TEST_CASE("with a new master key first, old secrets still open and new ones are sealed with it",
          "[webhooks][secrets][postgres]")
{
    operators_suite s;
    const auto made = s.make_webhook(*s.replica({"old"}));
    auto both = s.replica({"new", "old"});
    s.make_webhook(*both);

    CHECK(s.sealed_with("old") == 1);
    CHECK(s.sealed_with("new") == 1);
    const auto configs = await(both->configs.current({s.account}));
    const auto id = webhook_id::parse(made.webhook().webhook_id()).value();
    CHECK(configs.at(s.account)->find(id)->key.has_value());
}

TEST_CASE("all secrets are sealed anew in batches, and open without the old key",
          "[webhooks][secrets][postgres]")
{
    operators_suite s;
    std::vector<v1::CreateWebhookResponse> made;
    {
        auto before = s.replica({"old"});
        for (int i = 0; i < 7; ++i)
            made.push_back(s.make_webhook(*before));
        await(before->webhook_rpc.rotate(
                  testing::rotation_of(s.account, made[3].webhook().webhook_id())))
            .value();
    }
    auto both = s.replica({"new", "old"});
    s.make_webhook(*both);

    const auto [resealed, unopened] = reseal_all(*both, "new", 3);

    CHECK(resealed == 8);
    CHECK(unopened == 0);
    CHECK(s.sealed_with("old") == 0);
    CHECK(s.sealed_with("new") == 9);
    CHECK(reseal_all(*both, "new", 3) == std::pair(0, 0));
    const auto counted = await(both->secret_rpc.count(v1::CountSecretsRequest())).value();
    CHECK(counted.current_key_id() == "new");
    REQUIRE(counted.keys_size() == 1);
    CHECK(counted.keys(0).secrets() == 9);

    auto after = s.replica({"new"});
    const auto configs = await(after->configs.current({s.account}));
    for (const auto& one : made) {
        const auto known =
            configs.at(s.account)->find(webhook_id::parse(one.webhook().webhook_id()).value());
        REQUIRE(known->key);
        const bool is_rotated = one.webhook().webhook_id() == made[3].webhook().webhook_id();
        CHECK(known->previous_keys.size() == (is_rotated ? 1 : 0));
        const auto& own = is_rotated ? known->previous_keys.front().key : *known->key;
        CHECK(own.reveal() == webhooks::read_signing_secret(secret{one.secret()}).value().reveal());
    }
}

TEST_CASE("sealing anew continues where it was interrupted", "[webhooks][secrets][postgres]")
{
    operators_suite s;
    {
        auto before = s.replica({"old"});
        for (int i = 0; i < 5; ++i)
            s.make_webhook(*before);
    }
    {
        auto first = s.replica({"new", "old"});
        await(first->secret_rpc.reseal(reseal_request("new", 2))).value();
    }
    CHECK(s.sealed_with("new") == 2);

    auto second = s.replica({"new", "old"});
    CHECK(reseal_all(*second, "new", 2) == std::pair(3, 0));
    CHECK(s.sealed_with("old") == 0);
}

TEST_CASE("a secret that no key opens is counted and skipped", "[webhooks][secrets][postgres]")
{
    operators_suite s;
    s.make_webhook(*s.replica({"lost"}));
    {
        auto before = s.replica({"old"});
        for (int i = 0; i < 3; ++i)
            s.make_webhook(*before);
    }
    auto both = s.replica({"new", "old"});

    CHECK(reseal_all(*both, "new", 1) == std::pair(3, 1));
    CHECK(s.sealed_with("lost") == 1);
    CHECK(s.sealed_with("new") == 3);
}

TEST_CASE("a secret that was rotated while it was sealed anew stays as the rotation made it",
          "[webhooks][secrets][postgres]")
{
    operators_suite s;
    auto both = s.replica({"new", "old"});
    const auto webhook = s.make_webhook(*s.replica({"old"})).webhook().webhook_id();
    const auto found =
        await(both->endpoints.find_sealed_otherwise("new", webhooks::secret_position(), 10));
    REQUIRE(found.size() == 1);

    const auto rotated =
        await(both->webhook_rpc.rotate(testing::rotation_of(s.account, webhook))).value();
    webhooks::resealed_secret late;
    late.before = found.front();
    late.sealed = both->keys.seal(secret{"of yesterday"}, webhook);
    CHECK(await(both->endpoints.reseal({late})) == 0);

    const auto stored =
        await(both->endpoints.find(s.account, webhook_id::parse(webhook).value())).value();
    CHECK(both->keys.open(stored.sealed_secret, webhook).value().reveal() == rotated.secret());
}

TEST_CASE("replicas that seal with different keys do not undo each other's work",
          "[webhooks][secrets][postgres]")
{
    operators_suite s;
    auto behind = s.replica({"old", "new"});
    s.make_webhook(*behind);

    const auto refused = error_of(await(behind->secret_rpc.reseal(reseal_request("new", 10))));

    CHECK(refused.code == errc::conflict);
    CHECK(refused.message.find("seals with the master key \"old\"") != std::string::npos);
    CHECK(s.sealed_with("old") == 1);
    CHECK(error_of(await(behind->secret_rpc.reseal(reseal_request("old", 0)))).code ==
          errc::invalid_argument);
    CHECK(error_of(await(behind->secret_rpc.reseal(reseal_request("old", 1'001)))).code ==
          errc::invalid_argument);
    CHECK(error_of(await(behind->secret_rpc.reseal(reseal_request("old", 10, "nonsense")))).code ==
          errc::invalid_argument);
}

TEST_CASE("a replica whose file lags opens the webhooks of a new key once the file has it",
          "[webhooks][secrets][postgres]")
{
    operators_suite s;
    const testing::scratch_folder folder;
    testing::dispatcher lagging(s.scratch.dsn(), testing::loopback_policy(), {}, {}, keys({"old"}),
                                folder.write("keys", key_line("old")));
    const auto old = s.make_webhook(lagging).webhook().webhook_id();
    const auto anew = s.make_webhook(*s.replica({"new", "old"})).webhook().webhook_id();
    const auto opens = [&](const std::string& webhook) {
        const auto configs = await(lagging.configs.current({s.account}));
        return configs.at(s.account)->find(webhook_id::parse(webhook).value())->key.has_value();
    };
    CHECK(opens(old));
    CHECK_FALSE(opens(anew));

    folder.write("keys", key_line("old") + key_line("new"));
    testing::test_host().files().check();

    CHECK(opens(old));
    CHECK(opens(anew));
    CHECK(error_of(await(lagging.secret_rpc.reseal(reseal_request("new", 10)))).code ==
          errc::conflict);

    folder.write("keys", key_line("new") + key_line("old"));
    testing::test_host().files().check();

    CHECK(reseal_all(lagging, "new", 10) == std::pair(1, 0));
    CHECK(s.sealed_with("old") == 0);
}
