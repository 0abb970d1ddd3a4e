#include "mail-ingest/rejections/rejection_sums.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using mail_ingest::rejection_bounds;
using mail_ingest::rejection_sums;
using mailbox::new_rejection;

namespace {

const time_point noon = from_unix_micros(1'700'000'000'000'000);
const rejection_sums::steady_time start{1h};

new_rejection attempt(inbox_id inbox, const std::string& sender, time_point at = noon,
                      const std::string& reply = "552 5.3.4 Message is too large")
{
    new_rejection one;
    one.inbox = inbox;
    one.reason = "too_large";
    one.mail_from = sender;
    one.reply = reply;
    one.first_at = one.last_at = at;
    return one;
}

rejection_bounds bounds(std::size_t per_inbox, std::size_t per_minute)
{
    rejection_bounds chosen;
    chosen.rows_per_inbox = per_inbox;
    chosen.rows_per_minute = per_minute;
    return chosen;
}

} // namespace

TEST_CASE("attempts of one sender for one reason are one row", "[mail-ingest]")
{
    rejection_sums sums;
    const auto box = inbox_id::make();

    CHECK(sums.add(attempt(box, "a@x.test", noon, "450 first"), start));
    CHECK(sums.add(attempt(box, "a@x.test", noon + 2s, "450 last"), start));
    CHECK(sums.add(attempt(box, "a@x.test", noon + 1s, "450 between"), start));

    const auto rows = sums.take(10);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].inbox == box);
    CHECK(rows[0].attempts == 3);
    CHECK(rows[0].first_at == noon);
    CHECK(rows[0].last_at == noon + 2s);
    CHECK(rows[0].reply == "450 last");
    CHECK(sums.size() == 0);
    CHECK(sums.take(10).empty());
}

TEST_CASE("another inbox, reason or sender is another row", "[mail-ingest]")
{
    rejection_sums sums;
    const auto box = inbox_id::make();
    auto ended = attempt(box, "a@x.test");
    ended.reason = "inbox_ended";

    sums.add(attempt(box, "a@x.test"), start);
    sums.add(attempt(box, "b@x.test"), start);
    sums.add(attempt(inbox_id::make(), "a@x.test"), start);
    sums.add(ended, start);

    CHECK(sums.size() == 4);
    CHECK(sums.take(3).size() == 3);
    CHECK(sums.take(3).size() == 1);
}

TEST_CASE("an inbox has so many rows, and the other inboxes have theirs", "[mail-ingest]")
{
    rejection_sums sums(bounds(2, 100));
    const auto box = inbox_id::make();

    CHECK(sums.add(attempt(box, "1@x.test"), start));
    CHECK(sums.add(attempt(box, "2@x.test"), start));
    CHECK_FALSE(sums.add(attempt(box, "3@x.test"), start));
    CHECK(sums.add(attempt(box, "2@x.test"), start));
    CHECK(sums.add(attempt(inbox_id::make(), "3@x.test"), start));

    CHECK(sums.size() == 3);
}

TEST_CASE("a minute has so many rows, however often they are taken", "[mail-ingest]")
{
    rejection_sums sums(bounds(100, 3));
    const auto box = inbox_id::make();

    CHECK(sums.add(attempt(box, "1@x.test"), start));
    CHECK(sums.add(attempt(box, "2@x.test"), start));
    sums.take(10);
    CHECK(sums.add(attempt(box, "1@x.test"), start + 59s));
    CHECK_FALSE(sums.add(attempt(box, "2@x.test"), start + 59s));
    CHECK(sums.add(attempt(box, "1@x.test"), start + 59s));

    CHECK(sums.add(attempt(box, "2@x.test"), start + 60s));
}

TEST_CASE("rows that wait for the database are bounded too", "[mail-ingest]")
{
    rejection_sums sums(bounds(100, 2));
    const auto box = inbox_id::make();

    CHECK(sums.add(attempt(box, "1@x.test"), start));
    CHECK(sums.add(attempt(box, "2@x.test"), start));

    CHECK_FALSE(sums.add(attempt(box, "3@x.test"), start + 5min));
    CHECK(sums.size() == 2);
}

TEST_CASE("rows that were not written are added to those that came meanwhile", "[mail-ingest]")
{
    rejection_sums sums(bounds(2, 100));
    const auto box = inbox_id::make();
    sums.add(attempt(box, "1@x.test", noon), start);
    sums.add(attempt(box, "2@x.test", noon), start);
    sums.add(attempt(box, "2@x.test", noon), start);
    auto taken = sums.take(10);
    sums.add(attempt(box, "1@x.test", noon + 1s), start);
    sums.add(attempt(box, "3@x.test", noon + 1s), start);

    const auto dropped = sums.requeue(std::move(taken));

    CHECK(dropped == 2);
    const auto rows = sums.take(10);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].mail_from == "1@x.test");
    CHECK(rows[0].attempts == 2);
    CHECK(rows[0].first_at == noon);
    CHECK(rows[0].last_at == noon + 1s);
    CHECK(rows[1].mail_from == "3@x.test");
}

TEST_CASE("what a sender chose is cut and cleaned", "[mail-ingest]")
{
    rejection_sums sums;
    const auto box = inbox_id::make();

    sums.add(attempt(box, std::string(1'000, 'a'), noon, std::string(1'000, '5')), start);
    sums.add(attempt(box, std::string("\xff\0x", 3)), start);

    const auto rows = sums.take(10);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].mail_from == std::string(256, 'a'));
    CHECK(rows[0].reply == std::string(512, '5'));
    CHECK(rows[1].mail_from == "\xEF\xBF\xBD\xEF\xBF\xBDx");
}
