#include "gateway/mcp/tools.hpp"

#include "common/json/writer.hpp"
#include "gateway/mcp/mail_content.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway::mcp;

namespace {

json::value listed()
{
    return json::value::parse(tools_json()).value();
}

json::value property(const json::value& tool, const char* name)
{
    return tool["inputSchema"]["properties"][name];
}

} // namespace

TEST_CASE("every tool that is listed is there, in the same order", "[gateway][mcp]")
{
    const auto all = listed().items();

    REQUIRE(all.size() == tools().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i]["name"].text() == tools()[i].name);
        CHECK(find_tool(tools()[i].name) == &tools()[i]);
        CHECK((tools()[i].call != nullptr) != tools()[i].waits_for.has_value());
    }
    CHECK(find_tool("send_email") == nullptr);
}

TEST_CASE("every tool has all annotations and closed schemas", "[gateway][mcp]")
{
    for (const auto& tool : listed().items()) {
        CAPTURE(tool["name"].text());
        for (const auto* hint :
             {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
            CHECK(tool["annotations"][hint].is_bool());
        CHECK(tool["annotations"]["title"].text() == tool["title"].text());
        CHECK_FALSE(tool["inputSchema"]["additionalProperties"].boolean());
        CHECK(tool["outputSchema"]["type"].text() == "object");
        for (const auto& name : tool["outputSchema"]["required"].items())
            CHECK(tool["outputSchema"]["properties"].find(name.text()));
    }
}

TEST_CASE("the schemas name the bounds that hold", "[gateway][mcp]")
{
    const auto all = listed();
    for (const auto i : {2, 3, 4}) {
        const auto timeout = property(all[static_cast<std::size_t>(i)], "timeoutSeconds");
        CHECK(timeout["default"].integer() == standard_wait);
        CHECK(timeout["maximum"].integer() == max_wait);
    }
    const auto length = property(all[5], "maxCharacters");
    CHECK(length["minimum"].integer() == static_cast<std::int64_t>(min_text_length));
    CHECK(length["maximum"].integer() == static_cast<std::int64_t>(max_text_length));
    CHECK(length["default"].integer() == static_cast<std::int64_t>(standard_text_length));
}

TEST_CASE("the tools that wait take every argument that their schemas name", "[gateway][mcp]")
{
    using purpose = mail_wait::purpose;
    const auto all = listed().items();
    for (const auto& [index, chosen] :
         {std::pair(2, purpose::email), std::pair(3, purpose::code), std::pair(4, purpose::link)}) {
        json::writer out;
        out.begin_object();
        for (const auto& [name, schema] :
             all[static_cast<std::size_t>(index)]["inputSchema"]["properties"].members()) {
            if (name == "emailId")
                continue;
            if (name == "inboxId")
                out.member(name, inbox_id::make().text());
            else if (schema.find("enum"))
                out.member(name, schema["enum"].items().front().text());
            else if (schema["type"].text() == "boolean")
                out.member(name, true);
            else if (schema["type"].text() == "object")
                out.key(name).begin_object().member("X-Run", "7").end_object();
            else if (schema["type"].text() == "integer")
                out.member(name, 1);
            else
                out.member(name, "x");
        }
        out.end_object();

        CHECK(mail_wait::read(chosen, json::value::parse(out.take()).value()));
    }
}

TEST_CASE("arguments of a wait are refused by name", "[gateway][mcp]")
{
    struct row
    {
        mail_wait::purpose wanted;
        std::string arguments;
        std::string says;
    };
    const auto inbox = inbox_id::make().text();
    const auto in_inbox = "{\"inboxId\":\"" + inbox + "\",";
    using purpose = mail_wait::purpose;
    const std::vector<row> rows{
        {purpose::email, "{}", "inboxId is required"},
        {purpose::email, R"({"inboxId":"../x"})", "inboxId"},
        {purpose::code, "{}", "either inboxId"},
        {purpose::link, in_inbox + "\"emailId\":\"" + email_id::make().text() + "\"}",
         "either inboxId"},
        {purpose::email, in_inbox + "\"timeoutSeconds\":46}",
         "timeoutSeconds must be an integer from 1 to 45, not 46"},
        {purpose::email, in_inbox + "\"after\":-1}", "after must be"},
        {purpose::email, in_inbox + "\"hasCode\":\"yes\"}", "hasCode must be"},
        {purpose::email, in_inbox + "\"kind\":\"verify\"}", "kind"},
        {purpose::link, in_inbox + "\"kind\":\"buy\"}", "kind must be"},
        {purpose::code, in_inbox + "\"hasCode\":false}", "hasCode"},
        {purpose::code, in_inbox + "\"linkKind\":\"buy\"}", "linkKind must be"},
        {purpose::link, in_inbox + "\"hasLink\":true}", "hasLink"},
        {purpose::link, in_inbox + "\"isRead\":1}", "isRead must be"},
        {purpose::code, in_inbox + "\"subject\":\"\"}", "subject must have"}};
    for (const auto& one : rows) {
        const auto read = mail_wait::read(one.wanted, json::value::parse(one.arguments).value());
        CAPTURE(one.arguments);
        REQUIRE_FALSE(read);
        CHECK_THAT(read.error().message, Catch::Contains(one.says));
    }
    const auto plain = mail_wait::read(
        purpose::code, json::value::parse("{\"inboxId\":\"" + inbox + "\"}").value());
    REQUIRE(plain);
    CHECK(plain->timeout() == std::chrono::seconds(standard_wait));
}
