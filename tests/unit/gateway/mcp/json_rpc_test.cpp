#include "gateway/mcp/json_rpc.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway::mcp;

TEST_CASE("a request has an id, a method and parameters", "[gateway][mcp]")
{
    const auto read = read_message(
        R"({"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"get_code"}})");

    REQUIRE(read.message);
    CHECK(read.message->is == rpc_message::kind::request);
    CHECK(read.message->id == "\"a-1\"");
    CHECK(read.message->method == "tools/call");
    CHECK((*read.message->params)["name"].text() == "get_code");
}

TEST_CASE("a message without an id is a notification, one with a result a response",
          "[gateway][mcp]")
{
    const auto notice = read_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    const auto response = read_message(R"({"jsonrpc":"2.0","id":7,"result":{}})");

    REQUIRE(notice.message);
    CHECK(notice.message->is == rpc_message::kind::notification);
    REQUIRE(response.message);
    CHECK(response.message->is == rpc_message::kind::response);
}

TEST_CASE("what is no message is refused with JSON-RPC's code and the id that could be read",
          "[gateway][mcp]")
{
    struct row
    {
        std::string body;
        int code;
        std::string id;
    };
    const auto wrong = GENERATE(
        row{"", -32700, ""}, row{"{", -32700, ""}, row{"\xff", -32700, ""}, row{"[]", -32600, ""},
        row{R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600, ""}, row{"7", -32600, ""},
        row{R"({"id":1,"method":"ping"})", -32600, "1"},
        row{R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600, "1"},
        row{R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, ""},
        row{R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600, ""},
        row{R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600, ""},
        row{R"({"jsonrpc":"2.0","id":1,"method":""})", -32600, "1"},
        row{R"({"jsonrpc":"2.0","id":1,"method":7})", -32600, "1"},
        row{R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602, "1"},
        row{R"({"jsonrpc":"2.0","id":")" + std::string(201, 'x') + R"(","method":"ping"})", -32600,
            ""});

    const auto read = read_message(wrong.body);

    REQUIRE_FALSE(read.message);
    CHECK(read.error.code == wrong.code);
    CHECK(read.error.id == wrong.id);
    CHECK_FALSE(read.error.message.empty());
}

TEST_CASE("an error names its id where it has one", "[gateway][mcp]")
{
    rpc_error error;
    error.code = rpc_code::invalid_params;
    error.message = "no";
    CHECK(error_message(error) == R"({"jsonrpc":"2.0","error":{"code":-32602,"message":"no"}})");
    error.id = "3";
    error.data = "[1]";
    CHECK(error_message(error) ==
          R"({"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no","data":[1]}})");
}
