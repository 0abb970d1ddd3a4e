#include "common/json/object_reader.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using json::object_reader;

namespace {

// What `finish` returns after one field is read.
template <class Ask>
std::string error_of(std::string_view body, Ask ask)
{
    auto reader = object_reader::parse(body);
    if (!reader)
        return reader.error().message;
    ask(*reader);
    const auto outcome = reader->finish();
    return outcome ? std::string() : outcome.error().message;
}

} // namespace

TEST_CASE("an object reader returns fields of the right kind", "[json]")
{
    auto body = object_reader::parse(
        R"({"name":"Ünïcode","ttl":600,"on":true,"tags":["a","b"],"meta":{"k":"v"},"mode":"all","rules":[{"id":1}],"gone":null})");
    REQUIRE(body);

    CHECK(body->text("name", 1, 7) == "Ünïcode");
    CHECK(body->integer("ttl", 60, 600) == 600);
    CHECK(body->boolean("on") == true);
    CHECK(body->texts("tags", 2, 1, 10) == std::vector<std::string>{"a", "b"});
    CHECK(body->text_map("meta", 1, 10, 10)->at("k") == "v");
    CHECK(body->choice("mode", {"active", "all"}) == "all");
    CHECK(body->objects("rules", 5)->front()["id"].integer() == 1);
    CHECK_FALSE(body->text("gone", 1, 5));
    CHECK_FALSE(body->text("absent", 1, 5));
    CHECK(body->has("name"));
    CHECK_FALSE(body->has("gone"));
    CHECK(body->has_null("gone"));
    CHECK(body->finish());
}

TEST_CASE("an empty body is an empty object", "[json]")
{
    auto body = object_reader::parse("");

    REQUIRE(body);
    CHECK_FALSE(body->has("name"));
    CHECK(body->finish());
}

TEST_CASE("an object reader says what is wrong with a field", "[json]")
{
    const auto text = [](object_reader& body) { body.text("name", 1, 5); };
    CHECK(error_of(R"({"name":12})", text) == "name must be a string, not 12");
    CHECK(error_of(R"({"name":["x"]})", text) == "name must be a string, not an array");
    CHECK(error_of(R"({"name":""})", text) == "name must have 1 to 5 characters, not 0");
    CHECK(error_of(R"({"name":"toolong"})", text) ==
          "name must have 1 to 5 characters, not 7: \"toolong\"");
    CHECK_THAT(error_of(R"({"name":"a\u0000b"})", text),
               Catch::Contains("must not contain control characters"));
    CHECK_THAT(error_of(R"({"name":"a\u0085b"})", text),
               Catch::Contains("must not contain control characters"));
    CHECK(error_of(R"({"name":"a\tb\n"})", text).empty());

    const auto required = [](object_reader& body) { body.required_text("name", 1, 5); };
    CHECK(error_of("{}", required) == "name is required: a string of 1 to 5 characters");
    CHECK(error_of(R"({"name":null})", required) ==
          "name is required: a string of 1 to 5 characters");

    const auto integer = [](object_reader& body) { body.integer("ttlSeconds", 60, 604800); };
    CHECK(error_of(R"({"ttlSeconds":"soon"})", integer) ==
          "ttlSeconds must be an integer from 60 to 604800, not \"soon\"");
    CHECK(error_of(R"({"ttlSeconds":59})", integer) ==
          "ttlSeconds must be an integer from 60 to 604800, not 59");
    CHECK(error_of(R"({"ttlSeconds":60.5})", integer) ==
          "ttlSeconds must be an integer from 60 to 604800, not 60.5");
    CHECK(error_of(R"({"ttlSeconds":59.0})", integer) ==
          "ttlSeconds must be an integer from 60 to 604800, not 59");
    CHECK(error_of(R"({"ttlSeconds":6e6})", integer) ==
          "ttlSeconds must be an integer from 60 to 604800, not 6000000");
    CHECK_THAT(error_of(R"({"ttlSeconds":99999999999999999999})", integer),
               Catch::Contains("must be an integer"));

    CHECK(error_of(R"({"on":"yes"})", [](object_reader& body) { body.boolean("on"); }) ==
          "on must be true or false, not \"yes\"");
    CHECK(error_of(R"({"mode":"x"})", [](object_reader& body) {
              body.choice("mode", {"a", "b"});
          }) == "mode must be one of a, b, not \"x\"");
}

TEST_CASE("an object reader bounds lists and maps", "[json]")
{
    const auto tags = [](object_reader& body) { body.texts("tags", 2, 1, 3); };
    CHECK(error_of(R"({"tags":"a"})", tags) ==
          "tags must be an array of at most 2 strings, not \"a\"");
    CHECK(error_of(R"({"tags":["a","b","c"]})", tags) ==
          "tags must be an array of at most 2 strings, not of 3");
    CHECK(error_of(R"({"tags":["a",5]})", tags) == "tags[1] must be a string, not 5");
    CHECK(error_of(R"({"tags":["abcd"]})", tags) ==
          "tags[0] must have 1 to 3 characters, not 4: \"abcd\"");

    const auto meta = [](object_reader& body) { body.text_map("meta", 2, 3, 3); };
    CHECK(error_of(R"({"meta":{"k":1}})", meta) == "meta.k must be a string, not 1");
    CHECK(error_of(R"({"meta":{"k":null}})", meta) == "meta.k must be a string, not null");
    CHECK_THAT(error_of(R"({"meta":{"long":"v"}})", meta),
               Catch::Contains("meta must have names of"));
    CHECK_THAT(error_of(R"({"meta":{"":"v"}})", meta), Catch::Contains("meta must have names of"));
    CHECK_THAT(error_of(R"({"meta":{"a":"","b":"","c":""}})", meta), Catch::Contains("not of 3"));

    const auto rules = [](object_reader& body) { body.objects("rules", 1); };
    CHECK(error_of(R"({"rules":[1]})", rules) == "rules[0] must be an object, not 1");
    CHECK_THAT(error_of(R"({"rules":[{},{}]})", rules),
               Catch::Contains("at most 1 object, not of 2"));
}

TEST_CASE("a merge patch keeps what null removes apart from what is absent", "[json]")
{
    auto body = object_reader::parse(R"({"metadata":{"stay":"1","go":null}})").value();

    const auto patch = body.text_map_patch("metadata", 20, 64, 256);

    REQUIRE(patch);
    CHECK(patch->at("stay") == "1");
    CHECK(patch->at("go") == std::nullopt);
    CHECK(body.finish());
}

TEST_CASE("the first error is the one reported, unknown fields come last", "[json]")
{
    auto body = object_reader::parse(R"({"a":1,"b":2,"colour":3})").value();
    body.text("a", 1, 5);
    body.text("b", 1, 5);
    CHECK(body.finish().error().message == "a must be a string, not 1");

    auto typo = object_reader::parse(R"({"colour":3})").value();
    typo.text("color", 1, 5);
    typo.text("size", 1, 5);
    CHECK(typo.finish().error().message == "colour is unknown here; known are color, size");
    CHECK(typo.finish().error().code == errc::invalid_argument);

    auto failed = object_reader::parse("{}").value();
    failed.fail("rules[2] is wrong");
    failed.fail("later");
    CHECK(failed.finish().error().message == "rules[2] is wrong");
}

TEST_CASE("a body that is no object is refused", "[json]")
{
    CHECK(object_reader::parse("[1]").error().message ==
          "body must be a JSON object, not an array");
    CHECK(object_reader::parse("\"x\"").error().message == "body must be a JSON object, not \"x\"");
    CHECK_FALSE(object_reader::parse("{\"a\":1"));

    object_reader nested(json::value::parse("[]").value());
    CHECK_FALSE(nested.finish());
}

TEST_CASE("a secret is never repeated in a message", "[json]")
{
    const auto message_for = [](const char* body) {
        auto reader = json::object_reader::parse(body).value();
        CHECK(reader.required_secret("password", 10, 20).empty());
        return reader.finish().error().message;
    };

    CHECK(message_for(R"({})") == "password is required: a string of 10 to 20 characters");
    CHECK(message_for(R"({"password":"hunter2"})") ==
          "password must have 10 to 20 characters, not 7");
    CHECK(message_for(R"({"password":1234567890123})") ==
          "password must be a string, not a number");
    auto reader = json::object_reader::parse(R"({"password":"any\u0001thing goes"})").value();
    CHECK(reader.required_secret("password", 10, 20) == "any\x01thing goes");
}
