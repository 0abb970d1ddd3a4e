#include "tempinboxctl/restore_report.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;
using Catch::Contains;

namespace {

kafka::group_position position(std::int64_t committed, std::int64_t at_time)
{
    return {"email.received", 3, committed, at_time};
}

restore_signs signs(std::int64_t timeline, std::int64_t version, std::int64_t published,
                    bool is_settled = false)
{
    restore_signs found;
    found.timeline = timeline;
    found.version = version;
    found.published_version = published;
    found.is_settled = is_settled;
    return found;
}

} // namespace

TEST_CASE("a group is set back, never forward", "[tempinboxctl][restore]")
{
    const auto moved = positions_to_reset({position(120, 87), position(87, 87), position(50, 87)});

    REQUIRE(moved.size() == 1);
    CHECK(moved.front().committed == 120);
    CHECK(moved.front().at_time == 87);
}

TEST_CASE("a later timeline or an older version than Kafka's says that a database was restored",
          "[tempinboxctl][restore]")
{
    CHECK_FALSE(needs_settling(signs(1, 10, 10)));
    CHECK(needs_settling(signs(2, 10, 10)));
    CHECK(needs_settling(signs(1, 10, 11)));
    CHECK_FALSE(needs_settling(signs(2, 10, 11, true)));
}

TEST_CASE("a report has a line for each step, each offset and each end", "[tempinboxctl][restore]")
{
    restore_report report;
    report.restore_id = "7000-2";
    report.moment = parse_iso8601("2026-11-21T10:30:00Z");
    report.group = "dispatchers";
    report.steps.emplace_back(step_status::done, "keys", 2, "suspended");
    report.offsets.push_back(position(120, 87));
    const auto ended = inbox_id::make();
    const auto event = event_id::make();
    report.ends.emplace_back(ended, "a@mail.test", "ttl", *report.moment, event);
    report.is_unsettled = true;

    const auto shown = to_result(report);

    CHECK(shown.is_failure);
    const auto text = to_text(shown);
    CHECK_THAT(text, Contains("restore 7000-2 to 2026-11-21T10:30:00.000Z\n"));
    CHECK_THAT(text, Contains("done    keys           2          suspended\n"));
    CHECK_THAT(text, Contains("offset  dispatchers  email.received/3  from 120 to 87\n"));
    CHECK_THAT(text, Contains("end     " + ended.text() +
                              "  a@mail.test  ttl at "
                              "2026-11-21T10:30:00.000Z, published as " +
                              event.text() + "\n"));
    const auto json = to_json(shown);
    CHECK_THAT(json, Contains(R"("steps":[{"status":"done","step":"keys","count":2)"));
    CHECK_THAT(json, Contains(R"("partition":3,"committed":120,"offset":87)"));
    CHECK_THAT(json, Contains(R"("eventId":")" + event.text() + R"("})"));
}

TEST_CASE("a restore without a known moment says so", "[tempinboxctl][restore]")
{
    restore_report report;
    report.restore_id = "7000-2";

    CHECK_THAT(to_text(to_result(report)), Contains("restore 7000-2 to an unknown moment\n"));
    CHECK_FALSE(to_result(report).is_failure);
}
