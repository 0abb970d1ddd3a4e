#include "common/kafka/schema_ids.hpp"

#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

kafka::published_schema some_schema(int message_index = 0)
{
    kafka::published_schema schema;
    schema.topic = "email.received";
    schema.subject = "staging.email.received-value";
    schema.guid = *uuid::parse("89791762-2336-4186-9674-299b90a802e2");
    schema.message_index = message_index;
    return schema;
}

std::string framed(std::string_view indexes)
{
    return "\x01\x89\x79\x17\x62\x23\x36\x41\x86\x96\x74\x29\x9b\x90\xa8\x02\xe2" +
           std::string(indexes);
}

} // namespace

TEST_CASE("a schema id is framed as Confluent's deserializers read it", "[kafka]")
{
    using namespace std::string_view_literals;
    CHECK(kafka::schema_id_of(some_schema()) == framed("\0"sv));
    CHECK(kafka::schema_id_of(some_schema(1)) == framed("\x02\x02"));
    CHECK(kafka::schema_id_of(some_schema(64)) == framed("\x02\x80\x01"));
}

TEST_CASE("published schemas are read as they were written", "[kafka]")
{
    const auto read = kafka::parse_published_schemas(kafka::to_json({some_schema(3)})).value();

    REQUIRE(read.size() == 1);
    CHECK(read[0].topic == "email.received");
    CHECK(read[0].subject == "staging.email.received-value");
    CHECK(read[0].guid == some_schema().guid);
    CHECK(read[0].message_index == 3);
}

TEST_CASE("what is no list of published schemas says what is wrong", "[kafka]")
{
    const auto error = [](std::string_view text) {
        return kafka::parse_published_schemas(text).error().message;
    };
    CHECK_THAT(error("{"), Contains("JSON"));
    CHECK_THAT(error(R"({"schema":[]})"), Contains("schema"));
    CHECK_THAT(error(R"({"schemas":[{"topic":"t","subject":"s","guid":"7"}]})"),
               Contains("schema 1: guid must be a UUID"));
}

TEST_CASE("schema ids follow their file, and rubbish in it changes nothing", "[kafka]")
{
    const testing::scratch_folder folder;
    auto& host = testing::test_host();
    const auto file = folder.write("ids", "{\"schemas\":[]}");
    kafka::schema_ids ids(host, file);
    CHECK_FALSE(ids.find("email.received"));

    folder.write("ids", kafka::to_json({some_schema()}));
    host.files().check();
    CHECK(ids.find("email.received") == kafka::schema_id_of(some_schema()));
    CHECK_FALSE(ids.find("inbox.created"));

    folder.write("ids", "rubbish");
    host.files().check();
    CHECK(ids.find("email.received") == kafka::schema_id_of(some_schema()));
    ids.stop();
}

TEST_CASE("without a file no topic has a schema id", "[kafka]")
{
    const kafka::schema_ids ids(testing::test_host(), "");
    CHECK_FALSE(ids.find("email.received"));
}
