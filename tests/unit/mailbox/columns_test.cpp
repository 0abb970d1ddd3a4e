#include "mailbox/columns.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

TEST_CASE("text arrays are read as PostgreSQL writes them", "[mailbox]")
{
    CHECK(from_array("{}").empty());
    CHECK(from_array("{a,b}") == std::vector<std::string>{"a", "b"});
    CHECK(from_array(R"({"","a b","a,b","\"x\"","\\","{y}","NULL",käse})") ==
          std::vector<std::string>{"", "a b", "a,b", "\"x\"", "\\", "{y}", "NULL", "käse"});
}

TEST_CASE("what is no array of one dimension without NULL is damage", "[mailbox]")
{
    for (const auto* literal :
         {"", "a", "{", "{a", "{a,}", "{,a}", "{NULL}", "{{a}}", "{\"a}", "{\"a\"b}"}) {
        CAPTURE(literal);
        CHECK_THROWS(from_array(literal));
    }
}

TEST_CASE("metadata, codes and links come back as they went", "[mailbox]")
{
    const std::map<std::string, std::string> metadata{{"a", "1"}, {"käse \"", "\\ \n"}};
    const std::vector<extract::code> codes{{"123456", 0.95, "text", 12},
                                           {"AB-12", 1, "subject", 0}};
    const std::vector<extract::link> links{{"https://example.org/?a=1&b=\"", "Verify", "verify"}};

    CHECK(metadata_from_json(to_json(metadata)) == metadata);
    const auto codes_back = codes_from_json(to_json(codes));
    REQUIRE(codes_back.size() == 2);
    CHECK(codes_back[0].value == "123456");
    CHECK(codes_back[0].score == 0.95);
    CHECK(codes_back[1].score == 1);
    CHECK(codes_back[1].part == "subject");
    CHECK(codes_back[0].offset == 12);
    const auto links_back = links_from_json(to_json(links));
    REQUIRE(links_back.size() == 1);
    CHECK(links_back[0].url == links[0].url);
    CHECK(codes_from_json("[]").empty());
}
