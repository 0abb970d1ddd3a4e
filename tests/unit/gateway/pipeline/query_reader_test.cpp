#include "gateway/pipeline/query_reader.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

http::request with_query(std::vector<std::pair<std::string, std::string>> query)
{
    http::request received;
    received.query = std::move(query);
    return received;
}

std::string error_of(const http::request& received)
{
    query_reader query(received);
    query.choice("status", "active", {"active", "expired", "all"});
    query.text("tag", 1, 5);
    query.integer("after", 0, 0, 1'000);
    read_page(query);
    const auto outcome = query.finish();
    return outcome ? "" : outcome.error().message;
}

} // namespace

TEST_CASE("without parameters the defaults hold", "[gateway][query]")
{
    const auto received = with_query({});
    query_reader query(received);

    const auto page = read_page(query);

    CHECK(page.limit == 25);
    CHECK(page.cursor.empty());
    CHECK(page.order == list_order::newest_first);
    CHECK(query.choice("status", "active", {"active"}) == "active");
    CHECK(query.integer("after", 7, 0, 100) == 7);
    CHECK_FALSE(query.text("tag", 1, 5));
    CHECK(query.finish());
}

TEST_CASE("given parameters are read", "[gateway][query]")
{
    const auto received = with_query({{"limit", "100"},
                                      {"cursor", "abc"},
                                      {"order", "asc"},
                                      {"status", "all"},
                                      {"after", "12"},
                                      {"tag", "überü"}});
    query_reader query(received);

    const auto page = read_page(query);

    CHECK(page.limit == 100);
    CHECK(page.cursor == "abc");
    CHECK(page.order == list_order::oldest_first);
    CHECK(query.choice("status", "active", {"active", "all"}) == "all");
    CHECK(query.integer("after", 0, 0, 100) == 12);
    CHECK(query.text("tag", 1, 5) == "überü");
    CHECK(query.finish());
}

TEST_CASE("a bad query is refused with the parameter's name, what was given and what is allowed",
          "[gateway][query]")
{
    struct row
    {
        const char* name;
        const char* value;
        const char* message;
    };
    const row rows[] = {
        {"limit", "0", "limit must be an integer from 1 to 100, not \"0\""},
        {"limit", "101", "limit must be an integer from 1 to 100, not \"101\""},
        {"limit", "ten", "limit must be an integer from 1 to 100, not \"ten\""},
        {"limit", "", "limit must be an integer from 1 to 100, not \"\""},
        {"limit", "+5", "limit must be an integer from 1 to 100, not \"+5\""},
        {"limit", "5 ", "limit must be an integer from 1 to 100, not \"5 \""},
        {"limit", "99999999999999999999",
         "limit must be an integer from 1 to 100, not \"99999999999999999999\""},
        {"after", "-1", "after must be an integer from 0 to 1000, not \"-1\""},
        {"status", "ACTIVE", "status must be one of active, expired, all, not \"ACTIVE\""},
        {"tag", "", "tag must have 1 to 5 characters, not \"\""},
        {"tag", "longer", "tag must have 1 to 5 characters, not \"longer\""},
        {"cursor", "", "cursor must have 1 to 500 characters, not \"\""},
        {"order", "", "order must be one of desc, asc, not \"\""},
        {"order", "ASC", "order must be one of desc, asc, not \"ASC\""},
        {"order", "newest", "order must be one of desc, asc, not \"newest\""},
        {"lmit", "5", "lmit is unknown here; known are status, tag, after, limit, cursor, order"},
    };

    for (const auto& row : rows)
        CHECK(error_of(with_query({{row.name, row.value}})) == row.message);
    CHECK(error_of(with_query({{"limit", "5"}, {"limit", "5"}})) ==
          "limit is given more than once");
    CHECK(error_of(with_query({{"tag", "\xff"}})).starts_with("tag must have 1 to 5 characters"));
    CHECK(error_of(with_query({{"tag", "a\x01"}}))
              .starts_with("tag must not contain control characters: "));
    CHECK(error_of(with_query({{"tag", "\u0085"}}))
              .starts_with("tag must not contain control characters: "));
}

TEST_CASE("an operation without parameters refuses every one", "[gateway][query]")
{
    CHECK(expect_no_query(with_query({})));
    CHECK(expect_no_query(with_query({{"x", ""}})).error().message ==
          "x is unknown here; this operation takes no query parameters");
}
