#include "mailbox/login_repository.hpp"

#include "common/credentials/capture_login.hpp"
#include "common/crypto/digest.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/purge_repository.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

plans::account_state with_captures(int captures)
{
    auto state = seeds::account();
    state.limits.captures = captures;
    return state;
}

std::string digest_of(const std::string& password)
{
    return credentials::capture_password_digest(password);
}

struct login_world : seeds::world
{
    login_repository logins{scratch.db()};
    account_state_repository states{scratch.db()};

    result<capture_login> create_login(const plans::account_state& account, const inbox& of,
                                       const std::string& password, login_id id = login_id::make())
    {
        return await(logins.create(account, of.id, {id, digest_of(password)}, seeds::now()));
    }

    result<capture_login> rotate(const inbox& of, const std::string& password,
                                 std::chrono::seconds grace = 0s, login_id id = login_id::make())
    {
        return await(logins.rotate(of.account, of.id, {id, digest_of(password), grace}));
    }

    result<created_inbox> create_capture(const plans::account_state& account,
                                         const std::string& password, inbox_id id,
                                         std::optional<std::string> local_part = std::nullopt)
    {
        return await(inboxes.create(capture_of(account, password, id, local_part), seeds::now()));
    }

    static new_inbox capture_of(const plans::account_state& account, const std::string& password,
                                inbox_id id = inbox_id::make(),
                                std::optional<std::string> local_part = std::nullopt)
    {
        new_inbox requested;
        requested.account = account;
        requested.id = id;
        requested.local_part = std::move(local_part);
        requested.login = new_login{login_id::parse(id.text()).value(), digest_of(password)};
        return requested;
    }

    std::optional<login_owner> find(const std::string& user)
    {
        return await(logins.find_by_user(user)).owner;
    }

    bool accepts(const std::string& user, const std::string& password)
    {
        const auto owner = find(user);
        return owner && owner->is_active(seeds::now()) &&
               owner->is_password(digest_of(password), seeds::now());
    }

    // What a cache that has read up to `version` learns.
    credentials::change_set changes(std::int64_t version)
    {
        return await(logins.read_changes(version));
    }
    std::int64_t version() { return await(logins.read_changes(std::nullopt)).version; }
};

} // namespace

TEST_CASE("a login is found by its user, with its inbox and account", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto inbox = world.create(ann);

    const auto login = world.create_login(ann, inbox, "secret").value();
    const auto owner = world.find(login.user).value();

    CHECK(credentials::is_capture_user(login.user));
    CHECK_FALSE(login.last_used_at);
    CHECK(owner.user == login.user);
    CHECK(owner.inbox == inbox.id);
    CHECK(owner.account.account == ann.account);
    CHECK(owner.account.limits.captures == 1);
    CHECK(owner.address == inbox.address);
    CHECK(owner.expires_at == inbox.expires_at);
    CHECK(owner.position == 1);
    CHECK(world.accepts(login.user, "secret"));
    CHECK_FALSE(world.accepts(login.user, "other"));
    CHECK_FALSE(world.find("cap_000000000000"));
    CHECK(world.read(inbox).login->user == login.user);
}

TEST_CASE("no password is stored", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto password = credentials::make_capture_password().reveal();

    REQUIRE(world.create_login(ann, world.create(ann), password));

    CHECK(world.count("capture_logins AS l WHERE l::text LIKE '%" + password + "%'") == 0);
}

TEST_CASE("an inbox has one login, which another account cannot see or change",
          "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(5);
    const auto bob = with_captures(5);
    const auto inbox = world.create(ann);
    const auto login = world.create_login(ann, inbox, "secret").value();

    const auto second = world.create_login(ann, inbox, "other");
    const auto foreign = world.create_login(bob, inbox, "other");
    auto seen_by_bob = inbox;
    seen_by_bob.account = bob.account;
    const auto rotated = world.rotate(seen_by_bob, "other");
    const auto ended = await(world.logins.end(bob.account, inbox.id));

    CHECK(second.error().code == errc::conflict);
    CHECK(second.error().reason == error_reason::capture_exists);
    CHECK(foreign.error().code == errc::not_found);
    CHECK(rotated.error().code == errc::not_found);
    CHECK(ended.error().code == errc::not_found);
    CHECK(world.accepts(login.user, "secret"));
}

TEST_CASE("who did not get the password repeats the creation and gets another",
          "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto inbox = world.create(ann);
    const auto id = login_id::make();

    const auto first = world.create_login(ann, inbox, "lost", id).value();
    const auto second = world.create_login(ann, inbox, "kept", id).value();

    CHECK(second.user == first.user);
    CHECK_FALSE(world.accepts(first.user, "lost"));
    CHECK(world.accepts(first.user, "kept"));
}

TEST_CASE("a rotated password is good until the end of its grace", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto inbox = world.create(ann);
    const auto user = world.create_login(ann, inbox, "first").value().user;

    const auto rotated = world.rotate(inbox, "second", 60s).value();
    const auto owner = world.find(user).value();

    CHECK(rotated.previous_until.value() > seeds::now());
    CHECK(owner.is_password(digest_of("second"), seeds::now()));
    CHECK(owner.is_password(digest_of("first"), seeds::now()));
    CHECK_FALSE(owner.is_password(digest_of("first"), *rotated.previous_until));
    CHECK(owner.is_password(digest_of("second"), *rotated.previous_until));
}

TEST_CASE("without grace the password before is refused at once", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto inbox = world.create(ann);
    const auto user = world.create_login(ann, inbox, "first").value().user;

    CHECK_FALSE(world.rotate(inbox, "second").value().previous_until);

    CHECK_FALSE(world.accepts(user, "first"));
    CHECK(world.accepts(user, "second"));
}

TEST_CASE("a second rotation ends the grace of the first, a repeated one does not",
          "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto inbox = world.create(ann);
    const auto user = world.create_login(ann, inbox, "first").value().user;
    const auto rotation = login_id::make();

    REQUIRE(world.rotate(inbox, "lost", 60s, rotation));
    REQUIRE(world.rotate(inbox, "second", 60s, rotation));
    CHECK(world.accepts(user, "first"));
    CHECK_FALSE(world.accepts(user, "lost"));
    CHECK(world.accepts(user, "second"));

    REQUIRE(world.rotate(inbox, "third", 60s));
    CHECK_FALSE(world.accepts(user, "first"));
    CHECK(world.accepts(user, "second"));
    CHECK(world.accepts(user, "third"));
}

TEST_CASE("a login that ended is refused, and its inbox may get a new one", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto inbox = world.create(ann);
    const auto user = world.create_login(ann, inbox, "secret").value().user;

    REQUIRE(await(world.logins.end(ann.account, inbox.id)));

    CHECK_FALSE(world.find(user));
    CHECK_FALSE(world.read(inbox).login);
    CHECK(await(world.logins.end(ann.account, inbox.id)).error().code == errc::not_found);
    CHECK(world.create_login(ann, inbox, "secret again").value().user != user);
}

TEST_CASE("a plan has as many logins as it says, and counts those that live", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(2);
    const auto first = world.create(ann), second = world.create(ann), third = world.create(ann);
    REQUIRE(world.create_login(ann, first, "1"));
    REQUIRE(world.create_login(ann, second, "2"));

    const auto refused = world.create_login(ann, third, "3");
    const auto without = world.create_login(with_captures(0), world.create(with_captures(0)), "0");
    REQUIRE(await(world.endings.expire(first.account, first.id)));
    const auto after = world.create_login(ann, third, "3");

    CHECK(refused.error().code == errc::permission_denied);
    CHECK(refused.error().reason == error_reason::capture_limit);
    CHECK_FALSE(without);
    CHECK(after);
}

TEST_CASE("the end of an inbox ends its login, and another end of it is a change",
          "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(3);
    const auto deleted = world.create(ann), due = world.create(ann), kept = world.create(ann);
    const auto first = world.create_login(ann, deleted, "1").value().user;
    const auto second = world.create_login(ann, due, "2").value().user;
    REQUIRE(world.create_login(ann, kept, "3"));

    auto before = world.version();
    REQUIRE(await(world.endings.expire(ann.account, deleted.id)));
    CHECK(world.changes(before).accounts == std::vector{ann.account});
    CHECK_FALSE(world.find(first));

    world.make_due("inbox_id = '" + due.id.text() + "'");
    CHECK_FALSE(world.find(second));
    before = world.version();
    await(world.endings.expire_due());
    CHECK(world.changes(before).accounts == std::vector{ann.account});

    before = world.version();
    inbox_change shorter;
    shorter.account = ann;
    shorter.id = kept.id;
    shorter.ttl = 60s;
    REQUIRE(await(world.inboxes.change(shorter, seeds::now())));
    CHECK(world.changes(before).accounts == std::vector{ann.account});
}

TEST_CASE("an inbox without a login ends without a change", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(3);
    const auto inbox = world.create(ann);
    REQUIRE(world.create_login(ann, world.create(ann), "other"));
    const auto before = world.version();

    REQUIRE(await(world.endings.expire(ann.account, inbox.id)));

    CHECK(world.version() == before);
}

TEST_CASE("a plan that shrinks keeps the oldest logins, and one that grows has them all again",
          "[mailbox][postgres]")
{
    login_world world;
    auto ann = with_captures(3);
    std::vector<std::string> users;
    for (int i = 0; i < 3; ++i)
        users.push_back(world.create_login(ann, world.create(ann), std::to_string(i)).value().user);
    const auto before = world.version();

    ann.version = 2;
    ann.limits.captures = 1;
    await(world.states.put({ann}));

    CHECK(world.changes(before).accounts == std::vector{ann.account});
    CHECK(world.accepts(users[0], "0"));
    CHECK_FALSE(world.accepts(users[1], "1"));
    CHECK_FALSE(world.accepts(users[2], "2"));
    CHECK(world.find(users[2]).value().position == 3);

    ann.version = 3;
    ann.limits.captures = 3;
    await(world.states.put({ann}));
    CHECK(world.accepts(users[2], "2"));
}

TEST_CASE("a state from before there were captures ends no login", "[mailbox][postgres]")
{
    login_world world;
    auto ann = with_captures(1);
    const auto user = world.create_login(ann, world.create(ann), "secret").value().user;

    ann.version = 2;
    ann.limits.captures.reset();
    await(world.states.put({ann}));

    CHECK(world.accepts(user, "secret"));
}

TEST_CASE("the logins of a deleted account are refused", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto user = world.create_login(ann, world.create(ann), "secret").value().user;
    const auto before = world.version();

    await(world.states.mark_deleted(ann.account, 2));

    CHECK(world.changes(before).accounts == std::vector{ann.account});
    CHECK_FALSE(world.accepts(user, "secret"));
}

TEST_CASE("a state that changes nothing and one of an account without logins are no changes",
          "[mailbox][postgres]")
{
    login_world world;
    auto ann = with_captures(1), bob = with_captures(1);
    REQUIRE(world.create_login(ann, world.create(ann), "secret"));
    world.create(bob);
    const auto before = world.version();

    await(world.states.put({ann}));
    bob.version = 2;
    bob.limits.captures = 0;
    await(world.states.put({bob}));

    CHECK(world.version() == before);
}

TEST_CASE("an inbox can be made with its login, and the same again with another password",
          "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto id = inbox_id::make();

    const auto first = world.create_capture(ann, "lost", id).value().inbox;
    const auto again = world.create_capture(ann, "kept", id).value().inbox;

    CHECK(again.id == first.id);
    CHECK(again.login->user == first.login->user);
    CHECK(world.accepts(first.login->user, "kept"));
    CHECK_FALSE(world.accepts(first.login->user, "lost"));
    CHECK(world.find(first.login->user)->inbox == id);
}

TEST_CASE("an inbox whose login has no place in the plan is not made", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    REQUIRE(world.create_capture(ann, "first", inbox_id::make()));

    const auto refused = world.create_capture(ann, "second", inbox_id::make());

    CHECK(refused.error().reason == error_reason::capture_limit);
    CHECK(world.count("inboxes") == 1);
    CHECK(world.count("addresses") == 1);
}

TEST_CASE("a batch makes as many captures as the plan has, in its order", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(2);
    const auto taken = world.create(ann, "taken");
    std::vector<new_inbox> requested = {
        login_world::capture_of(ann, "1", inbox_id::make(), "taken"),
        login_world::capture_of(ann, "2"), login_world::capture_of(ann, "3"),
        login_world::capture_of(ann, "4")};
    requested.emplace_back().account = ann;
    requested.back().id = inbox_id::make();

    const auto results = await(world.inboxes.create_all(requested, seeds::now()));

    CHECK(results[0].error().reason == error_reason::address_taken);
    CHECK(results[1].value().inbox.login);
    CHECK(results[2].value().inbox.login);
    CHECK(results[3].error().reason == error_reason::capture_limit);
    CHECK(results[4]);
    CHECK_FALSE(results[4].value().inbox.login);
    CHECK(world.count("capture_logins") == 2);
}

TEST_CASE("captures are shown in lists, with their last use", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(1);
    const auto plain = world.create(ann);
    const auto capture = world.create_capture(ann, "secret", inbox_id::make()).value().inbox;
    const auto before = world.version();
    const auto now = seeds::now();

    await(world.logins.record_uses({{ann.account, capture.login->user, now - 1h},
                                    {ann.account, capture.login->user, now - 1h}}));
    await(world.logins.record_uses({{ann.account, capture.login->user, now}}));
    await(world.logins.record_uses({{ann.account, capture.login->user, now - 2h}}));
    const auto listed = await(world.inboxes.list(ann.account, {}, 10, "")).value().items;

    REQUIRE(listed.size() == 2);
    CHECK(listed[0].login->last_used_at == now);
    CHECK_FALSE(listed[1].login);
    CHECK(world.version() == before);
}

TEST_CASE("an email keeps the login that it was sent with", "[mailbox][postgres]")
{
    login_world world;
    const auto inbox = world.create(seeds::account());
    auto sent = seeds::make_message({inbox});
    sent->login = "cap_000000000000";

    seeds::store(world.mail, {sent, seeds::make_message({inbox}, "Subject: other\r\n\r\n")});

    CHECK(world.count("emails WHERE login = 'cap_000000000000'") == 1);
    CHECK(world.count("emails WHERE login IS NULL") == 1);
}

TEST_CASE("logins are purged with their inbox", "[mailbox][postgres]")
{
    login_world world;
    const auto ann = with_captures(2);
    const auto ended = world.create_capture(ann, "1", inbox_id::make()).value().inbox;
    REQUIRE(world.create_capture(ann, "2", inbox_id::make()));
    REQUIRE(await(world.endings.expire(ended.account, ended.id)));
    purge_repository purge(world.scratch.db(), "test");

    await(purge.purge_inboxes(0s));

    CHECK(world.count("capture_logins") == 1);
}
