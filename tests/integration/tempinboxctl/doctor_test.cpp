#include "tempinboxctl/program.hpp"

#include "integration/common/kafka/sent.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

int doctor(const testing::scratch_database& scratch, const std::string& topics)
{
    const std::vector<std::string> words{"tempinboxctl", "doctor", "--topics=" + topics,
                                         "--database=" + scratch.dsn(),
                                         "--kafka-brokers=" + testing::test_brokers()};
    std::vector<const char*> argv;
    for (const auto& word : words)
        argv.push_back(word.c_str());
    return ctl::run(static_cast<int>(argv.size()), argv.data());
}

// What the services' maintenance makes.
void make_partitions(testing::scratch_database& scratch)
{
    scratch.execute(
        "SELECT mailbox.ensure_email_day(day::date) FROM generate_series((now() AT TIME ZONE "
        "'UTC')::date, (now() AT TIME ZONE 'UTC')::date + 3, interval '1 day') AS day");
    scratch.execute("SELECT mailbox.ensure_body_hour(hour) FROM generate_series(now(), now() + "
                    "interval '26 hours', interval '1 hour') AS hour");
    scratch.execute("SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date, (now() AT TIME "
                    "ZONE 'UTC')::date + 3)");
}

std::string file_of(const testing::scratch_folder& folder, const std::string& name,
                    const std::string& topic)
{
    return folder.write(name, R"({"topics":[{"name":")" + topic + R"(","partitions":1}]})");
}

} // namespace

TEST_CASE("doctor passes a suite that is whole, and fails one that lacks something",
          "[tempinboxctl][doctor][kafka][postgres]")
{
    const testing::scratch_folder folder;
    const auto topics = file_of(folder, "topics.json", testing::scratch_topic("doctor", 1));
    testing::scratch_database scratch;
    make_partitions(scratch);

    CHECK(testing::eventually([&] { return doctor(scratch, topics) == 0; }));

    SECTION("a topic")
    {
        CHECK(doctor(scratch, file_of(folder, "other.json", "doctor.missing")) == 1);
    }
    SECTION("a migration")
    {
        scratch.execute("DELETE FROM public.tempinbox_migrations WHERE schema = 'mailbox' AND "
                        "version = 2");
        CHECK(doctor(scratch, topics) == 1);
    }
    SECTION("a partition")
    {
        scratch.execute("DROP TABLE mailbox.bodies_" +
                        scratch
                            .execute("SELECT to_char(now() AT TIME ZONE 'UTC', "
                                     "'YYYYMMDD_HH24')")[0][0]
                            .as<std::string>());
        CHECK(doctor(scratch, topics) == 1);
    }
}
