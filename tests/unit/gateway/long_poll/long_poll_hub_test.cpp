#include "gateway/long_poll/long_poll_hub.hpp"

#include "common/events/events.hpp"
#include "unit/gateway/long_poll/fake_inbox.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::begin_wait;
using testing::eventually;
using testing::fake_inbox;
using testing::running_wait;

namespace {

// A hub over one inbox. It polls each second only if a test starts it.
struct arranged_hub
{
    explicit arranged_hub(std::size_t max_memory_bytes = 10'000'000) : mail(max_memory_bytes) {}

    fake_inbox mail;
    long_poll_hub hub{testing::test_host(), mail.client, mail.memory, long_poll_limits(100)};

    // No wait outlives its hub: its timer would run in a later test.
    ~arranged_hub()
    {
        if (mail.held)
            mail.held->set();
        settle();
        hub.interrupt();
        settle();
    }

    // Runs until only timers are left.
    void settle()
    {
        testing::test_host().loop().restart();
        while (testing::test_host().loop().poll() > 0) {
        }
    }

    std::shared_ptr<running_wait> begin(std::int64_t after = 0, const std::string& subject = "",
                                        std::chrono::milliseconds timeout = 30s)
    {
        auto running = begin_wait(hub, mail.request(after, subject), timeout);
        settle();
        return running;
    }

    void publish(const std::string& topic, std::int64_t sequence = 0)
    {
        events::v1::EmailReceived event;
        event.set_email_id(email_id::make().text());
        event.set_inbox_id(mail.inbox.text());
        event.set_account_id(mail.account.text());
        event.set_sequence(sequence);
        auto row = events::make_row(event, trace::traceparent::make());
        kafka::record record;
        record.topic = topic;
        record.key = mail.inbox.text();
        record.value = row.message.value;
        record.headers = row.message.headers;
        hub.take_events({record});
        settle();
    }
    void publish_email(std::int64_t sequence) { publish(events::topics::inbox_activity, sequence); }
};

} // namespace

TEST_CASE("mail that is there already answers at once", "[gateway][long_poll]")
{
    arranged_hub arranged;
    const auto first = arranged.mail.add("one");
    arranged.mail.add("two");

    const auto wait = arranged.begin();

    REQUIRE(wait->final_result);
    CHECK(wait->end() == long_poll_outcome::matched);
    CHECK(wait->email_id() == first);
    CHECK(wait->final_result->value().last_sequence == 2);
    CHECK(arranged.hub.waiters() == 0);
    CHECK(arranged.hub.inboxes() == 0);
}

TEST_CASE(
    "an event wakes those who wait for its inbox, and the lowest sequence that matches is given",
    "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.mail.add("old");
    const auto wait = arranged.begin(1);
    const auto picky = arranged.begin(0, "code");
    REQUIRE_FALSE(wait->final_result);

    const auto hello = arranged.mail.add("hello");
    arranged.publish_email(2);
    const auto code = arranged.mail.add("your code");
    arranged.mail.add("another code");
    arranged.publish_email(3);

    REQUIRE(wait->final_result);
    CHECK(wait->email_id() == hello);
    REQUIRE(picky->final_result);
    CHECK(picky->email_id() == code);
    const auto& misses = picky->final_result->value().near_misses;
    REQUIRE(misses.size() == 2);
    CHECK(misses[0].actual() == "old");
    CHECK(misses[1].actual() == "hello");
}

TEST_CASE("an event without a new sequence costs no poll", "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.mail.add("old");
    const auto wait = arranged.begin(1);
    const auto polls = arranged.mail.polls;

    arranged.publish_email(1);

    CHECK(arranged.mail.polls == polls);
    CHECK_FALSE(wait->final_result);
}

TEST_CASE("mail that came while its event was lost is found within a second or so",
          "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.hub.start();
    const auto wait = arranged.begin();
    const auto polls = arranged.mail.polls;
    arranged.mail.add("quiet");

    CHECK(eventually([&] { return wait->final_result.has_value(); }, 5s));

    CHECK(wait->end() == long_poll_outcome::matched);
    CHECK(arranged.mail.polls == polls + 1); // the sequence poll saw a new email
    testing::await(arranged.hub.stop());
}

TEST_CASE("a wait on an inbox without news costs sequence polls only", "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.hub.start();
    const auto wait = arranged.begin();
    const auto polls = arranged.mail.polls;

    CHECK(eventually([&] { return arranged.mail.sequence_polls >= 2; }, 5s));

    CHECK(arranged.mail.polls == polls);
    CHECK_FALSE(wait->final_result);
    testing::await(arranged.hub.stop());
    arranged.hub.interrupt();
}

TEST_CASE("a wait times out only after a poll that began after its deadline",
          "[gateway][long_poll]")
{
    arranged_hub arranged;
    const auto began = std::chrono::steady_clock::now();
    const auto wait = arranged.begin(0, "", 300ms);
    const auto late = arranged.begin(0, "late", 300ms);
    const auto polls = arranged.mail.polls;
    const auto id = arranged.mail.add("late"); // without an event

    REQUIRE(eventually([&] { return wait->final_result && late->final_result; }, 5s));

    CHECK(std::chrono::steady_clock::now() - began >= 300ms);
    CHECK(late->email_id() == id);
    CHECK(arranged.mail.polls > polls);

    const auto none = arranged.begin(1, "", 300ms);
    REQUIRE(eventually([&] { return none->final_result.has_value(); }, 5s));
    CHECK(none->end() == long_poll_outcome::timeout);
    CHECK(none->final_result->value().last_sequence == 1);
}

TEST_CASE("when the last poll fails the wait fails as it did", "[gateway][long_poll]")
{
    arranged_hub arranged;
    const auto wait = arranged.begin(0, "", 300ms);
    arranged.mail.error = failure{errc::unavailable, "away"};

    REQUIRE(eventually([&] { return wait->final_result.has_value(); }, 5s));

    CHECK(wait->final_result->error().code == errc::unavailable);
}

TEST_CASE("when the last poll takes too long the wait is unavailable", "[gateway][long_poll]")
{
    fake_inbox mail;
    long_poll_hub hub(testing::test_host(), mail.client, mail.memory, long_poll_limits(10), 300ms);
    mail.add("one");
    const auto wait = begin_wait(hub, mail.request(0, "two"), 300ms);
    CHECK(eventually([&] { return mail.polls == 1; }));
    mail.held = std::make_shared<async::reset_event>(testing::test_host().executor());

    CHECK(eventually([&] { return wait->final_result.has_value(); }, 5s));

    mail.held->set();
    CHECK(eventually([&] { return hub.inboxes() == 0; }));
    CHECK(mail.polls == 2);
    CHECK(wait->final_result->error().code == errc::unavailable);
    testing::test_host().loop().restart();
    testing::test_host().loop().poll(); // the held poll ends before its inbox
}

TEST_CASE("many emails of one poll are all delivered", "[gateway][long_poll]")
{
    arranged_hub arranged;
    std::vector<std::shared_ptr<running_wait>> all;
    std::vector<std::string> ids;
    for (int i = 0; i < 40; ++i)
        all.push_back(arranged.begin(0, "number " + std::to_string(i) + "."));
    for (int i = 0; i < 40; ++i)
        ids.push_back(arranged.mail.add("number " + std::to_string(i) + "."));

    arranged.publish_email(40);

    for (std::size_t i = 0; i < all.size(); ++i) {
        REQUIRE(all[i]->final_result);
        CHECK(all[i]->email_id() == ids[i]);
    }
}

TEST_CASE("a first poll that fails ends the wait; a later one is retried", "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.hub.start();
    const auto waiting = arranged.begin();
    arranged.mail.error = failure{errc::unavailable, "away"};
    const auto fresh = arranged.begin();
    REQUIRE(fresh->final_result);
    CHECK(fresh->final_result->error().code == errc::unavailable);
    CHECK_FALSE(waiting->final_result);

    arranged.mail.add("while away");
    arranged.publish_email(1);
    CHECK_FALSE(waiting->final_result);
    arranged.mail.error.reset();

    CHECK(eventually([&] { return waiting->final_result.has_value(); }, 5s));
    CHECK(waiting->end() == long_poll_outcome::matched);
    testing::await(arranged.hub.stop());
}

TEST_CASE("an inbox that does not exist is not found; one that ends meanwhile ends its waits",
          "[gateway][long_poll]")
{
    arranged_hub arranged;
    auto foreign = arranged.mail.request();
    foreign.account = account_id::make();
    const auto waiting = arranged.begin();
    const auto stranger = begin_wait(arranged.hub, foreign);
    arranged.settle();
    REQUIRE(stranger->final_result);
    CHECK(stranger->final_result->error().code == errc::not_found);
    CHECK_FALSE(waiting->final_result);

    arranged.mail.is_live = false;
    arranged.publish(events::topics::inbox_expired);

    REQUIRE(waiting->final_result);
    CHECK(waiting->end() == long_poll_outcome::inbox_ended);
    CHECK(arranged.begin()->final_result->error().code == errc::not_found);
}

TEST_CASE("an inbox that ends without an event ends its waits within a second or so",
          "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.hub.start();
    const auto waiting = arranged.begin();
    arranged.mail.is_live = false;

    CHECK(eventually([&] { return waiting->final_result.has_value(); }, 5s));

    CHECK(waiting->end() == long_poll_outcome::inbox_ended);
    testing::await(arranged.hub.stop());
}

TEST_CASE("many waiters on one inbox share one poll and one email", "[gateway][long_poll]")
{
    arranged_hub arranged;
    std::vector<std::shared_ptr<running_wait>> all;
    for (int i = 0; i < 60; ++i)
        all.push_back(arranged.begin());
    const auto polls = arranged.mail.polls;
    const auto searches = arranged.mail.searches;

    arranged.mail.add("for all");
    arranged.publish_email(1);

    for (const auto& each : all) {
        REQUIRE(each->final_result);
        CHECK(each->final_result->value().email == all.front()->final_result->value().email);
    }
    CHECK(arranged.mail.polls == polls + 1);
    CHECK(arranged.mail.searches == searches + 1);
    CHECK(arranged.mail.emails_read == 1);
}

TEST_CASE("a search of messages that fails ends no wait that looks at none", "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.mail.held = std::make_shared<async::reset_event>(testing::test_host().executor());
    const auto first = arranged.begin(0, "absent");
    auto by_text = arranged.mail.request();
    by_text.filter.set_text("a");
    const auto text = begin_wait(arranged.hub, by_text);
    const auto subject = arranged.begin(0, "mail");
    arranged.mail.text_error = failure{errc::unavailable, "busy"};

    const auto held = std::exchange(arranged.mail.held, nullptr);
    held->set();
    arranged.settle();

    REQUIRE(text->final_result);
    CHECK(text->final_result->error().code == errc::unavailable);
    CHECK_FALSE(first->final_result);
    CHECK_FALSE(subject->final_result);
    arranged.mail.add("mail");
    arranged.publish_email(1);
    REQUIRE(subject->final_result);
    CHECK(subject->end() == long_poll_outcome::matched);
}

TEST_CASE("mail that comes during a poll is found by the next", "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.mail.held = std::make_shared<async::reset_event>(testing::test_host().executor());
    const auto wait = arranged.begin(0, "second");
    const auto other = arranged.begin();
    arranged.mail.add("first");
    arranged.mail.add("second");
    CHECK(arranged.mail.polls == 1);

    const auto held = std::exchange(arranged.mail.held, nullptr);
    held->set();
    arranged.settle();

    CHECK(arranged.mail.polls == 2);
    REQUIRE(other->final_result);
    REQUIRE(wait->final_result);
    CHECK(wait->end() == long_poll_outcome::matched);
}

TEST_CASE("an email deleted between the poll and its read is passed over", "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.mail.deleted.push_back(arranged.mail.add("gone"));
    const auto kept = arranged.mail.add("kept");

    const auto wait = arranged.begin();

    REQUIRE(wait->final_result);
    CHECK(wait->email_id() == kept);
}

TEST_CASE("a client that hangs up leaves nothing behind", "[gateway][long_poll]")
{
    arranged_hub arranged;
    const auto wait = arranged.begin();
    REQUIRE(wait->request.on_hang_up);
    REQUIRE(arranged.hub.waiters() == 1);

    wait->request.on_hang_up();
    arranged.settle();

    CHECK(wait->final_result);
    CHECK(arranged.hub.waiters() == 0);
    CHECK(arranged.hub.inboxes() == 0);
}

TEST_CASE("a drain ends every wait, and new ones after their first poll", "[gateway][long_poll]")
{
    arranged_hub arranged;
    const auto waiting = arranged.begin();
    arranged.mail.held = std::make_shared<async::reset_event>(testing::test_host().executor());
    const auto fresh = arranged.begin();

    arranged.hub.interrupt();
    arranged.settle();
    REQUIRE(waiting->final_result);
    CHECK(waiting->end() == long_poll_outcome::draining);
    CHECK_FALSE(fresh->final_result);

    const auto held = std::exchange(arranged.mail.held, nullptr);
    held->set();
    arranged.settle();
    REQUIRE(fresh->final_result);
    CHECK(fresh->end() == long_poll_outcome::draining);

    const auto late = arranged.begin();
    REQUIRE(late->final_result);
    CHECK(late->end() == long_poll_outcome::draining);
    arranged.mail.add("there");
    CHECK(arranged.begin()->end() == long_poll_outcome::matched);
}

TEST_CASE("a full hub refuses with unavailable", "[gateway][long_poll]")
{
    fake_inbox mail;
    long_poll_hub hub(testing::test_host(), mail.client, mail.memory, long_poll_limits(1));
    const auto first = begin_wait(hub, mail.request());
    const auto second = begin_wait(hub, mail.request());
    CHECK(eventually([&] { return second->final_result.has_value(); }));

    CHECK(second->final_result->error().code == errc::unavailable);
    CHECK_FALSE(first->final_result);
    hub.interrupt();
    CHECK(eventually([&] { return first->final_result.has_value(); }));
}

TEST_CASE("an account has no more waiters than its share of the hub, and ten times its burst",
          "[gateway][long_poll]")
{
    fake_inbox mail;
    long_poll_limits bounds(100);
    bounds.of_account = 30;
    long_poll_hub hub(testing::test_host(), mail.client, mail.memory, bounds);
    std::vector<std::shared_ptr<running_wait>> waiting;
    const auto begin = [&](account_id account, int burst, bool is_of_session) {
        auto request = mail.request();
        request.account = account;
        request.burst_per_second = burst;
        request.is_of_session = is_of_session;
        waiting.push_back(begin_wait(hub, std::move(request)));
    };
    const auto refused = [&] {
        return std::count_if(waiting.begin(), waiting.end(), [](const auto& one) {
            return one->final_result && !*one->final_result &&
                   one->final_result->error().code == errc::rate_limited;
        });
    };
    mail.is_everybodys = true;
    const auto burst_of_two = account_id::make(), without_burst = account_id::make(),
               by_session = account_id::make();

    for (int i = 0; i < 21; ++i)
        begin(burst_of_two, 2, false);
    CHECK(eventually([&] { return refused() == 1; }));
    for (int i = 0; i < 31; ++i)
        begin(without_burst, 0, false);
    CHECK(eventually([&] { return refused() == 2; }));
    for (int i = 0; i < 9; ++i)
        begin(by_session, 0, true);
    CHECK(eventually([&] { return refused() == 3; }));
    CHECK(hub.waiters() == 58);
    begin(by_session, 0, false);
    CHECK(eventually([&] { return hub.waiters() == 59; }));

    hub.interrupt();
    CHECK(eventually([&] { return hub.waiters() == 0; }));
    begin(burst_of_two, 2, false);
    CHECK(eventually([&] { return waiting.back()->final_result.has_value(); }));
    CHECK(refused() == 3); // who left made room
}

TEST_CASE(
    "an email that is found is counted while it is held, and read only where there is room for it",
    "[gateway][long_poll]")
{
    arranged_hub arranged(1'000'000);
    arranged.mail.text.assign(100'000, 'x');
    arranged.mail.add("one");
    arranged.mail.add("two");

    auto first = arranged.begin(0, "one");
    const auto held = arranged.mail.memory.used();
    const auto reads = arranged.mail.emails_read;
    const auto second = arranged.begin(0, "two");

    CHECK(first->end() == long_poll_outcome::matched);
    CHECK(held > 100'000);
    CHECK(held < 102'000);
    CHECK(arranged.mail.max_memory >= 400'000); // the copies while it is made
    REQUIRE(second->final_result);
    CHECK(second->final_result->error().code == errc::unavailable);
    CHECK(arranged.mail.emails_read == reads + 1);
    first = nullptr;
    CHECK(arranged.mail.memory.used() == 0);
    CHECK(arranged.begin(0, "two")->end() == long_poll_outcome::matched);
    CHECK(arranged.mail.memory.used() == 0);
}

TEST_CASE("of many large emails that a poll finds no more than one or two are in memory",
          "[gateway][long_poll]")
{
    arranged_hub arranged;
    arranged.mail.yields = 20;
    arranged.mail.text.assign(100'000, 'x');
    std::vector<std::shared_ptr<running_wait>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(arranged.begin(0, "number " + std::to_string(i) + "."));
        all.back()->is_let_go = true;
    }
    for (int i = 0; i < 20; ++i)
        arranged.mail.add("number " + std::to_string(i) + ".");

    arranged.publish_email(20);

    for (const auto& one : all)
        CHECK(one->final_result);
    CHECK(arranged.mail.emails_read == 40);
    CHECK(arranged.mail.max_memory >= 400'000);
    CHECK(arranged.mail.max_memory < 620'000);
    CHECK(arranged.mail.memory.used() == 0);
}
