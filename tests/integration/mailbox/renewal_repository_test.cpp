#include "mailbox/renewal_repository.hpp"

#include "common/rpc/timestamp.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

plans::account_state account_with_api()
{
    auto state = seeds::account(100);
    state.limits.api_access = true;
    state.limits.captures = 10;
    return state;
}

struct renewal_world : seeds::world
{
    renewal_repository renewals{scratch.db(), "test"};
    login_repository logins{scratch.db()};
    account_state_repository states{scratch.db()};
    plans::account_state account = account_with_api();

    new_inbox requested(std::chrono::seconds ttl)
    {
        new_inbox made;
        made.account = account;
        made.id = inbox_id::make();
        made.ttl = ttl;
        return made;
    }
    inbox create_renewing(std::chrono::seconds ttl)
    {
        auto made = requested(ttl);
        made.renews_on_use = true;
        return await(inboxes.create(made, seeds::now())).value().inbox;
    }
    inbox create_capture(std::chrono::seconds ttl, std::optional<bool> renews = std::nullopt)
    {
        auto made = requested(ttl);
        made.renews_on_use = renews;
        made.login = new_login{login_id::make(), crypto::sha256(made.id.text())};
        return await(inboxes.create(made, seeds::now())).value().inbox;
    }

    // As if the inbox were older, with its life where it was.
    void age(const inbox& which, const std::string& by)
    {
        scratch.execute("UPDATE mailbox.inboxes SET created_at = created_at - interval '" + by +
                        "', first_expires_at = first_expires_at - interval '" + by +
                        "', expires_at = expires_at - interval '" + by + "' WHERE inbox_id = '" +
                        which.id.text() + "'");
    }

    renewed_inboxes use(const inbox& which, use_kind kind)
    {
        return await(renewals.renew({inbox_use{which.account, which.id}}, kind, seeds::now()));
    }
    // To within what a slow machine takes.
    bool lives_for(const inbox& which, std::chrono::seconds life)
    {
        const auto left = read(which).expires_at - seeds::now();
        return left <= life && left > life - 30s;
    }
};

} // namespace

TEST_CASE("captures are renewed unless somebody chose or the plan has no renewals, others are not",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    CHECK(world.create_capture(1h).renews_on_use);
    CHECK_FALSE(world.create_capture(1h, false).renews_on_use);
    const auto plain = await(world.inboxes.create(world.requested(1h), seeds::now())).value().inbox;
    CHECK_FALSE(plain.renews_on_use);
    const auto chosen = world.create_renewing(1h);
    CHECK(world.read(chosen).renews_on_use);

    await(world.logins.create(world.account, plain.id, {login_id::make(), crypto::sha256("later")},
                              seeds::now()))
        .value();
    CHECK(world.read(plain).renews_on_use);

    world.account.version = 2;
    world.account.limits.api_access = false;
    CHECK_FALSE(world.create_capture(1h).renews_on_use);
}

TEST_CASE("a plan without renewals refuses them, when an inbox is made and when it is changed",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    world.account.limits.api_access = false;
    auto requested = world.requested(1h);
    const auto made = await(world.inboxes.create(requested, seeds::now())).value().inbox;
    requested.id = inbox_id::make();
    requested.renews_on_use = true;
    inbox_change change;
    change.account = world.account;
    change.id = made.id;
    change.renews_on_use = true;

    const auto created = await(world.inboxes.create(requested, seeds::now()));
    const auto changed = await(world.inboxes.change(change, seeds::now()));

    for (const auto& error : {created.error(), changed.error()}) {
        CHECK(error.code == errc::permission_denied);
        CHECK(error.reason == error_reason::plan_required);
        CHECK(error.message == "renewOnUse is not part of the plan pro");
    }
    change.renews_on_use = false;
    CHECK(await(world.inboxes.change(change, seeds::now())));
}

TEST_CASE("an end moves once a tenth of the life has passed, to its whole from now",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto box = world.create_renewing(1'000s);
    world.age(box, "99 seconds");
    CHECK(world.use(box, use_kind::read).inboxes.empty());
    CHECK(world.lives_for(box, 901s));
    CHECK(world.read(box).state_version == 1);

    world.age(box, "2 seconds");
    const auto renewed = world.use(box, use_kind::read);

    REQUIRE(renewed.inboxes.size() == 1);
    CHECK(renewed.inboxes[0].id == box.id);
    CHECK(world.lives_for(box, 1'000s));
    CHECK(world.use(box, use_kind::read).inboxes.empty());
}

TEST_CASE("a renewal is another state of the inbox, and its address and login live as long",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto capture = world.create_capture(1h);
    world.age(capture, "10 minutes");
    const auto version = await(world.logins.read_changes(std::nullopt)).version;

    const auto renewed = world.use(capture, use_kind::login);

    REQUIRE(renewed.events.size() == 1);
    CHECK(renewed.events[0].message.topic == "inbox.state");
    events::v1::InboxState state;
    REQUIRE(state.ParseFromString(renewed.events[0].message.value));
    const auto after = world.read(capture);
    CHECK(rpc::to_time(state.expires_at()) == after.expires_at);
    CHECK(state.version() == 2);
    CHECK(after.state_version == 2);
    CHECK(world.count("outbox WHERE topic = 'inbox.created'") == 1);
    CHECK(world.count("outbox WHERE topic = 'inbox.state' AND owner = 'test'") == 2);
    CHECK(world.count("addresses AS a JOIN mailbox.inboxes AS i ON i.email_address = a.address "
                      "WHERE a.until = i.expires_at") == 1);
    const auto changes = await(world.logins.read_changes(version));
    CHECK(changes.version == version + 1);
    const auto owner = await(world.logins.find_by_user(after.login->user)).owner.value();
    CHECK(owner.expires_at == after.expires_at);
    CHECK_FALSE(owner.is_renewal_due(seeds::now()));
    CHECK(owner.is_renewal_due(seeds::now() + 361s));
}

TEST_CASE("a capture is renewed by logins alone, another inbox by reads alone, neither by mail",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto capture = world.create_capture(1h), box = world.create_renewing(1h),
               fixed = await(world.inboxes.create(world.requested(1h), seeds::now())).value().inbox;
    for (const auto& each : {capture, box, fixed}) {
        world.age(each, "30 minutes");
        world.add_email({each}, "mail");
        CHECK(world.lives_for(each, 1'800s));
    }

    CHECK(world.use(capture, use_kind::read).inboxes.empty());
    CHECK(world.use(box, use_kind::login).inboxes.empty());
    for (const auto kind : {use_kind::read, use_kind::login})
        CHECK(world.use(fixed, kind).inboxes.empty());
    CHECK(world.use(capture, use_kind::login).inboxes.size() == 1);
    CHECK(world.use(box, use_kind::read).inboxes.size() == 1);
}

TEST_CASE("mail of a renewed inbox is kept past the hour of its first end",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto box = world.create_renewing(24h);
    world.add_email({box}, "mail");
    world.age(box, "23 hours");

    world.use(box, use_kind::read);

    CHECK(world.count("extended_inboxes WHERE inbox_id = '" + box.id.text() + "'") == 1);
}

TEST_CASE("the plan of the moment bounds what a use renews", "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto box = world.create_renewing(1'000s);
    world.age(box, "500 seconds");
    auto smaller = world.account;
    smaller.version = 2;

    SECTION("by its longest life")
    {
        smaller.limits.max_ttl = 700s;
        await(world.states.put({smaller}));
        world.use(box, use_kind::read);
        CHECK(world.lives_for(box, 700s));
    }
    SECTION("which never makes an end come earlier")
    {
        smaller.limits.max_ttl = 100s;
        await(world.states.put({smaller}));
        world.use(box, use_kind::read);
        CHECK(world.lives_for(box, 500s));
    }
    SECTION("and a plan without renewals has none")
    {
        smaller.limits.api_access = false;
        await(world.states.put({smaller}));
        CHECK(world.use(box, use_kind::read).inboxes.empty());
    }
}

TEST_CASE("the TTL that was asked for last is the one that is renewed",
          "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto box = world.create_renewing(1h);
    inbox_change change;
    change.account = world.account;
    change.id = box.id;
    change.ttl = 2h;
    await(world.inboxes.change(change, seeds::now())).value();
    world.age(box, "13 minutes");

    world.use(box, use_kind::read);

    CHECK(world.lives_for(box, 7'200s));
}

TEST_CASE("ended, unknown and foreign inboxes are not renewed", "[mailbox][renewal][postgres]")
{
    renewal_world world;
    const auto box = world.create_renewing(1h), ended = world.create_renewing(1h);
    world.age(box, "30 minutes");
    world.age(ended, "2 hours");

    CHECK(world.use(ended, use_kind::read).inboxes.empty());
    auto foreign = box;
    foreign.account = account_id::make();
    CHECK(world.use(foreign, use_kind::read).inboxes.empty());
    CHECK(world.lives_for(box, 1'800s));
}
