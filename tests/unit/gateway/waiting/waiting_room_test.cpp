#include "gateway/waiting/waiting_room.hpp"

#include "common/events/events.hpp"
#include "unit/gateway/waiting/fake_mailbox.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::begin_wait;
using testing::eventually;
using testing::fake_mailbox;
using testing::running_wait;

namespace {

// A room over one mailbox. Its looks of each second run only where a test starts it.
struct arranged_room
{
    fake_mailbox mail;
    waiting_room room{testing::test_host(), mail.sources(), wait_bounds(100)};

    // No wait outlives its room: its timer would run in a later test.
    ~arranged_room()
    {
        if (mail.held)
            mail.held->set();
        settle();
        room.interrupt();
        settle();
    }

    // Nothing is left to run but timers.
    void settle()
    {
        testing::test_host().loop().restart();
        while (testing::test_host().loop().poll() > 0) {
        }
    }

    std::shared_ptr<running_wait> begin(std::int64_t after = 0, const std::string& subject = "",
                                        std::chrono::milliseconds patience = 30s)
    {
        auto running = begin_wait(room, mail.wish(after, subject), patience);
        settle();
        return running;
    }

    void tell(const std::string& topic, std::int64_t sequence = 0)
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
        room.take_events({record});
        settle();
    }
    void tell_of_email(std::int64_t sequence) { tell(events::topics::email_received, sequence); }
};

} // namespace

TEST_CASE("mail that is there already answers at once", "[gateway][wait]")
{
    arranged_room arranged;
    const auto first = arranged.mail.add("one");
    arranged.mail.add("two");

    const auto wait = arranged.begin();

    REQUIRE(wait->answer);
    CHECK(wait->end() == wait_end::matched);
    CHECK(wait->email_id() == first);
    CHECK(wait->answer->value().last_sequence == 2);
    CHECK(arranged.room.waiters() == 0);
    CHECK(arranged.room.inboxes() == 0);
}

TEST_CASE(
    "an event wakes those who wait for its inbox, and the lowest sequence that matches is given",
    "[gateway][wait]")
{
    arranged_room arranged;
    arranged.mail.add("old");
    const auto wait = arranged.begin(1);
    const auto picky = arranged.begin(0, "code");
    REQUIRE_FALSE(wait->answer);

    const auto hello = arranged.mail.add("hello");
    arranged.tell_of_email(2);
    const auto code = arranged.mail.add("your code");
    arranged.mail.add("another code");
    arranged.tell_of_email(3);

    REQUIRE(wait->answer);
    CHECK(wait->email_id() == hello);
    REQUIRE(picky->answer);
    CHECK(picky->email_id() == code);
    const auto& misses = picky->answer->value().near_misses;
    REQUIRE(misses.size() == 2);
    CHECK(misses[0].actual() == "old");
    CHECK(misses[1].actual() == "hello");
}

TEST_CASE("an event that tells nothing new costs no look", "[gateway][wait]")
{
    arranged_room arranged;
    arranged.mail.add("old");
    const auto wait = arranged.begin(1);
    const auto looks = arranged.mail.looks;

    arranged.tell_of_email(1);

    CHECK(arranged.mail.looks == looks);
    CHECK_FALSE(wait->answer);
}

TEST_CASE("mail that came while its event was lost is found within a second or so",
          "[gateway][wait]")
{
    arranged_room arranged;
    arranged.room.start();
    const auto wait = arranged.begin();
    const auto looks = arranged.mail.looks;
    const auto began = std::chrono::steady_clock::now();
    arranged.mail.add("quiet");

    CHECK(eventually([&] { return wait->answer.has_value(); }, 5s));

    CHECK(wait->end() == wait_end::matched);
    CHECK(std::chrono::steady_clock::now() - began < 2s);
    CHECK(arranged.mail.looks == looks + 1); // the cheap look saw that there is news
    testing::await(arranged.room.stop());
}

TEST_CASE("who waits where nothing is new is looked after with cheap looks only", "[gateway][wait]")
{
    arranged_room arranged;
    arranged.room.start();
    const auto wait = arranged.begin();
    const auto looks = arranged.mail.looks;

    CHECK(eventually([&] { return arranged.mail.cheap_looks >= 2; }, 5s));

    CHECK(arranged.mail.looks == looks);
    CHECK_FALSE(wait->answer);
    testing::await(arranged.room.stop());
    arranged.room.interrupt();
}

TEST_CASE("the time is over only after a look that began after it", "[gateway][wait]")
{
    arranged_room arranged;
    const auto began = std::chrono::steady_clock::now();
    const auto wait = arranged.begin(0, "", 300ms);
    const auto late = arranged.begin(0, "late", 300ms);
    const auto looks = arranged.mail.looks;
    const auto id = arranged.mail.add("late"); // no event tells of it

    REQUIRE(eventually([&] { return wait->answer && late->answer; }, 5s));

    CHECK(std::chrono::steady_clock::now() - began >= 300ms);
    CHECK(late->email_id() == id);
    CHECK(arranged.mail.looks > looks);

    const auto none = arranged.begin(1, "", 300ms);
    REQUIRE(eventually([&] { return none->answer.has_value(); }, 5s));
    CHECK(none->end() == wait_end::timeout);
    CHECK(none->answer->value().last_sequence == 1);
}

TEST_CASE("when the last look fails nothing is decided", "[gateway][wait]")
{
    arranged_room arranged;
    const auto wait = arranged.begin(0, "", 300ms);
    arranged.mail.problem = failure{errc::unavailable, "away"};

    REQUIRE(eventually([&] { return wait->answer.has_value(); }, 5s));

    CHECK(wait->end() == wait_end::interrupted);
}

TEST_CASE("when the last look takes too long nothing is decided, and what is known is told",
          "[gateway][wait]")
{
    fake_mailbox mail;
    waiting_room room(testing::test_host(), mail.sources(), wait_bounds(10), 300ms);
    mail.add("one");
    const auto wait = begin_wait(room, mail.wish(0, "two"), 300ms);
    CHECK(eventually([&] { return mail.looks == 1; }));
    mail.held = std::make_shared<completion>(testing::test_host().executor());

    CHECK(eventually([&] { return wait->answer.has_value(); }, 5s));

    mail.held->set();
    CHECK(eventually([&] { return room.inboxes() == 0; }));
    CHECK(mail.looks == 2);
    CHECK(wait->end() == wait_end::interrupted);
    const auto& answer = wait->answer->value();
    CHECK(answer.last_sequence == 1);
    REQUIRE(answer.near_misses.size() == 1);
    CHECK(answer.near_misses[0].actual() == "one");
    testing::test_host().loop().restart();
    testing::test_host().loop().poll(); // the look that was held ends before its mailbox
}

TEST_CASE("many emails of one look are all handed out", "[gateway][wait]")
{
    arranged_room arranged;
    std::vector<std::shared_ptr<running_wait>> all;
    std::vector<std::string> ids;
    for (int i = 0; i < 40; ++i)
        all.push_back(arranged.begin(0, "number " + std::to_string(i) + "."));
    for (int i = 0; i < 40; ++i)
        ids.push_back(arranged.mail.add("number " + std::to_string(i) + "."));

    arranged.tell_of_email(40);

    for (std::size_t i = 0; i < all.size(); ++i) {
        REQUIRE(all[i]->answer);
        CHECK(all[i]->email_id() == ids[i]);
    }
}

TEST_CASE("a first look that fails is the answer; a later one is tried again", "[gateway][wait]")
{
    arranged_room arranged;
    arranged.room.start();
    const auto waiting = arranged.begin();
    arranged.mail.problem = failure{errc::unavailable, "away"};
    const auto fresh = arranged.begin();
    REQUIRE(fresh->answer);
    CHECK(fresh->answer->error().code == errc::unavailable);
    CHECK_FALSE(waiting->answer);

    arranged.mail.add("while away");
    arranged.tell_of_email(1);
    CHECK_FALSE(waiting->answer);
    arranged.mail.problem.reset();

    CHECK(eventually([&] { return waiting->answer.has_value(); }, 5s));
    CHECK(waiting->end() == wait_end::matched);
    testing::await(arranged.room.stop());
}

TEST_CASE("an inbox that does not exist is not found; one that ends meanwhile interrupts",
          "[gateway][wait]")
{
    arranged_room arranged;
    auto foreign = arranged.mail.wish();
    foreign.account = account_id::make();
    const auto waiting = arranged.begin();
    const auto stranger = begin_wait(arranged.room, foreign);
    arranged.settle();
    REQUIRE(stranger->answer);
    CHECK(stranger->answer->error().code == errc::not_found);
    CHECK_FALSE(waiting->answer);

    arranged.mail.is_live = false;
    arranged.tell(events::topics::inbox_expired);

    REQUIRE(waiting->answer);
    CHECK(waiting->end() == wait_end::interrupted);
    CHECK(arranged.begin()->answer->error().code == errc::not_found);
}

TEST_CASE("an inbox that ends without an event interrupts within a second or so", "[gateway][wait]")
{
    arranged_room arranged;
    arranged.room.start();
    const auto waiting = arranged.begin();
    arranged.mail.is_live = false;

    CHECK(eventually([&] { return waiting->answer.has_value(); }, 3s));

    CHECK(waiting->end() == wait_end::interrupted);
    testing::await(arranged.room.stop());
}

TEST_CASE("many who wait on one inbox share one look and one email", "[gateway][wait]")
{
    arranged_room arranged;
    std::vector<std::shared_ptr<running_wait>> all;
    for (int i = 0; i < 60; ++i)
        all.push_back(arranged.begin());
    const auto looks = arranged.mail.looks;
    const auto searches = arranged.mail.searches;

    arranged.mail.add("for all");
    arranged.tell_of_email(1);

    for (const auto& each : all) {
        REQUIRE(each->answer);
        CHECK(each->answer->value().email == all.front()->answer->value().email);
    }
    CHECK(arranged.mail.looks == looks + 1);
    CHECK(arranged.mail.searches == searches + 1);
    CHECK(arranged.mail.emails_read == 1);
}

TEST_CASE("mail that comes while a look is under way is seen by the next", "[gateway][wait]")
{
    arranged_room arranged;
    arranged.mail.held = std::make_shared<completion>(testing::test_host().executor());
    const auto wait = arranged.begin(0, "second");
    const auto other = arranged.begin();
    arranged.mail.add("first");
    arranged.mail.add("second");
    CHECK(arranged.mail.looks == 1);

    const auto held = std::exchange(arranged.mail.held, nullptr);
    held->set();
    arranged.settle();

    CHECK(arranged.mail.looks == 2);
    REQUIRE(other->answer);
    REQUIRE(wait->answer);
    CHECK(wait->end() == wait_end::matched);
}

TEST_CASE("an email deleted between the look and the reading is passed over", "[gateway][wait]")
{
    arranged_room arranged;
    arranged.mail.deleted.push_back(arranged.mail.add("gone"));
    const auto kept = arranged.mail.add("kept");

    const auto wait = arranged.begin();

    REQUIRE(wait->answer);
    CHECK(wait->email_id() == kept);
}

TEST_CASE("a client that hangs up leaves nothing behind", "[gateway][wait]")
{
    arranged_room arranged;
    const auto wait = arranged.begin();
    REQUIRE(wait->request.on_hang_up);
    REQUIRE(arranged.room.waiters() == 1);

    wait->request.on_hang_up();
    arranged.settle();

    CHECK(wait->answer);
    CHECK(arranged.room.waiters() == 0);
    CHECK(arranged.room.inboxes() == 0);
}

TEST_CASE("a drain interrupts every wait, and those who come after their first look",
          "[gateway][wait]")
{
    arranged_room arranged;
    const auto waiting = arranged.begin();
    arranged.mail.held = std::make_shared<completion>(testing::test_host().executor());
    const auto fresh = arranged.begin();

    arranged.room.interrupt();
    arranged.settle();
    REQUIRE(waiting->answer);
    CHECK(waiting->end() == wait_end::interrupted);
    CHECK_FALSE(fresh->answer);

    const auto held = std::exchange(arranged.mail.held, nullptr);
    held->set();
    arranged.settle();
    REQUIRE(fresh->answer);
    CHECK(fresh->end() == wait_end::interrupted);

    const auto late = arranged.begin();
    REQUIRE(late->answer);
    CHECK(late->end() == wait_end::interrupted);
    arranged.mail.add("there");
    CHECK(arranged.begin()->end() == wait_end::matched);
}

TEST_CASE("a full room answers unavailable", "[gateway][wait]")
{
    fake_mailbox mail;
    waiting_room room(testing::test_host(), mail.sources(), wait_bounds(1));
    const auto first = begin_wait(room, mail.wish());
    const auto second = begin_wait(room, mail.wish());
    CHECK(eventually([&] { return second->answer.has_value(); }));

    CHECK(second->answer->error().code == errc::unavailable);
    CHECK_FALSE(first->answer);
    room.interrupt();
    CHECK(eventually([&] { return first->answer.has_value(); }));
}

TEST_CASE("an account waits no more than its share of the room, and a tenfold of its burst",
          "[gateway][wait]")
{
    fake_mailbox mail;
    wait_bounds bounds(100);
    bounds.of_account = 30;
    waiting_room room(testing::test_host(), mail.sources(), bounds);
    std::vector<std::shared_ptr<running_wait>> waiting;
    const auto begin = [&](account_id account, int burst, bool is_of_session) {
        auto wish = mail.wish();
        wish.account = account;
        wish.burst_per_second = burst;
        wish.is_of_session = is_of_session;
        waiting.push_back(begin_wait(room, std::move(wish)));
    };
    const auto refused = [&] {
        return std::count_if(waiting.begin(), waiting.end(), [](const auto& one) {
            return one->answer && !*one->answer && one->answer->error().code == errc::rate_limited;
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
    CHECK(room.waiters() == 58);
    begin(by_session, 0, false);
    CHECK(eventually([&] { return room.waiters() == 59; }));

    room.interrupt();
    CHECK(eventually([&] { return room.waiters() == 0; }));
    begin(burst_of_two, 2, false);
    CHECK(eventually([&] { return waiting.back()->answer.has_value(); }));
    CHECK(refused() == 3); // who left made room
}

TEST_CASE(
    "an email that is found is counted while it is held, and read only where there is room for it",
    "[gateway][wait]")
{
    arranged_room arranged;
    arranged.mail.memory = std::make_unique<answer_memory>(1'000'000);
    arranged.mail.text.assign(100'000, 'x');
    arranged.mail.add("one");
    arranged.mail.add("two");

    auto first = arranged.begin(0, "one");
    const auto held = arranged.mail.memory->used();
    const auto reads = arranged.mail.emails_read;
    const auto second = arranged.begin(0, "two");

    CHECK(first->end() == wait_end::matched);
    CHECK(held > 100'000);
    CHECK(held < 102'000);
    CHECK(arranged.mail.most_memory >= 400'000); // the copies while it is made
    REQUIRE(second->answer);
    CHECK(second->answer->error().code == errc::unavailable);
    CHECK(arranged.mail.emails_read == reads + 1);
    first = nullptr;
    CHECK(arranged.mail.memory->used() == 0);
    CHECK(arranged.begin(0, "two")->end() == wait_end::matched);
    CHECK(arranged.mail.memory->used() == 0);
}

TEST_CASE("of many large emails that a look finds no more than one or two are in memory",
          "[gateway][wait]")
{
    arranged_room arranged;
    arranged.mail.pauses = 20;
    arranged.mail.text.assign(100'000, 'x');
    std::vector<std::shared_ptr<running_wait>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(arranged.begin(0, "number " + std::to_string(i) + "."));
        all.back()->is_let_go = true;
    }
    for (int i = 0; i < 20; ++i)
        arranged.mail.add("number " + std::to_string(i) + ".");

    arranged.tell_of_email(20);

    for (const auto& one : all)
        CHECK(one->answer);
    CHECK(arranged.mail.emails_read == 40);
    CHECK(arranged.mail.most_memory >= 400'000);
    CHECK(arranged.mail.most_memory < 620'000);
    CHECK(arranged.mail.memory->used() == 0);
}
