#include "gateway/mcp/revision.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway::mcp;

namespace {

constexpr const char* meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientCapabilities":{}})";

rpc_message message_of(const std::string& method, const std::string& params)
{
    const auto read = read_message(R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                                   R"(","params":{)" + params + "}}");
    REQUIRE(read.message);
    return *read.message;
}

message_headers headers_of(const std::string& version, const std::string& method,
                           const std::string& name = "")
{
    message_headers headers;
    headers.version = version;
    headers.method = method;
    if (!name.empty())
        headers.name = name;
    return headers;
}

} // namespace

TEST_CASE("a stateless request is read by its own revision", "[gateway][mcp]")
{
    const auto list =
        find_revision(message_of("tools/list", meta), headers_of("2026-07-28", "tools/list"));
    const auto call =
        find_revision(message_of("tools/call", std::string(R"("name":"get_code",)") + meta),
                      headers_of("2026-07-28", "tools/call", " get_code "));
    const auto encoded =
        find_revision(message_of("tools/call", std::string(R"("name":"get_code",)") + meta),
                      headers_of("2026-07-28", "tools/call", "=?base64?Z2V0X2NvZGU=?="));

    CHECK(list.revision == "2026-07-28");
    CHECK(call.revision == "2026-07-28");
    CHECK(encoded.revision == "2026-07-28");
}

TEST_CASE("headers that do not agree with the body are refused", "[gateway][mcp]")
{
    const auto call = message_of("tools/call", std::string(R"("name":"get_code",)") + meta);
    auto without_method = headers_of("2026-07-28", "tools/call", "get_code");
    without_method.method.reset();
    auto without_version = headers_of("2026-07-28", "tools/call", "get_code");
    without_version.version.reset();

    const auto wrong = GENERATE_COPY(
        headers_of("2026-07-28", "tools/list", "get_code"),
        headers_of("2026-07-28", "TOOLS/CALL", "get_code"),
        headers_of("2026-07-28", "tools/call", "get_link"),
        headers_of("2026-07-28", "tools/call", "=?base64?Z2V0X2xpbms=?="),
        headers_of("2026-07-28", "tools/call", "=?base64?nonsense?="),
        headers_of("2026-07-28", "tools/call"), headers_of("2025-11-25", "tools/call", "get_code"),
        without_method, without_version);
    const auto found = find_revision(call, wrong);

    CHECK(found.revision.empty());
    CHECK(found.error.code == rpc_code::header_mismatch);
    CHECK(found.error.id == "1");
}

TEST_CASE("an unknown revision is answered with those that are known", "[gateway][mcp]")
{
    const auto message = message_of(
        "tools/list", R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01",)"
                      R"("io.modelcontextprotocol/clientCapabilities":{}})");

    const auto in_body = find_revision(message, headers_of("2030-01-01", "tools/list"));
    const auto in_header =
        find_revision(message_of("tools/list", ""), headers_of("2030-01-01", "tools/list"));

    for (const auto& found : {in_body, in_header}) {
        CHECK(found.error.code == rpc_code::unsupported_version);
        CHECK(json::value::parse(found.error.data).value()["supported"].to_string() ==
              R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05","2024-10-07"])");
    }
    CHECK(json::value::parse(in_body.error.data).value()["requested"].text() == "2030-01-01");
}

TEST_CASE("a stateless request needs its metadata", "[gateway][mcp]")
{
    const auto without = GENERATE(
        std::string(), std::string(R"("_meta":{})"),
        std::string(R"("_meta":{"io.modelcontextprotocol/clientCapabilities":{}})"),
        std::string(R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"));

    const auto found = find_revision(message_of("server/discover", without),
                                     headers_of("2026-07-28", "server/discover"));

    CHECK(found.revision.empty());
    CHECK(found.error.code == rpc_code::invalid_params);
}

TEST_CASE("revisions with a handshake are known by their header alone", "[gateway][mcp]")
{
    CHECK(
        find_revision(message_of("initialize", R"("protocolVersion":"2025-06-18")"), {}).revision ==
        "2025-11-25");
    for (const std::string revision :
         {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"})
        CHECK(find_revision(message_of("tools/list", ""), headers_of(revision, "")).revision ==
              revision);
}

TEST_CASE("a message without a revision is read as the newest that has no header for it",
          "[gateway][mcp]")
{
    const auto list = message_of("tools/list", "");

    CHECK(find_revision(list, {}).revision == "2025-03-26");
    CHECK(find_revision(list, headers_of(" ", "")).revision == "2025-03-26");
    for (const std::string wrong : {"2025-07-01", "2026-07-29", "1.0", "latest", "2025-06-18x"})
        CHECK(find_revision(list, headers_of(wrong, "")).error.code ==
              rpc_code::unsupported_version);
}

TEST_CASE("the handshake settles on the client's revision or on the newest with one",
          "[gateway][mcp]")
{
    const auto settle = [](const std::string& version) {
        return negotiate(
            message_of("initialize", R"("protocolVersion":")" + version + "\"").params);
    };

    CHECK(settle("2025-06-18") == "2025-06-18");
    CHECK(settle("2025-11-25") == "2025-11-25");
    CHECK(settle("2025-03-26") == "2025-03-26");
    CHECK(settle("2024-11-05") == "2024-11-05");
    CHECK(settle("2024-10-08") == "2025-11-25");
    CHECK(settle("2030-01-01") == "2025-11-25");
    CHECK(settle("2026-07-28") == "2025-11-25");
    CHECK(negotiate(std::nullopt) == "2025-11-25");
}
