#include "gateway/repeatable/repeatable_calls.hpp"

#include "common/core/encoding.hpp"
#include "common/json/writer.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

// Repeatable calls over an operation that makes objects and says how often it was called; a new one stands for a new process.
class world
{
public:
    world() { restart(); }

    void restart()
    {
        store_ = std::make_unique<accounts::idempotency_store>(scratch.db());
        calls_ = std::make_unique<repeatable_calls>(testing::test_host(), *store_, keys_);
    }

    http::response post(const std::string& key, const std::string& body = "{}", const std::string& path = "/v1/things")
    {
        http::request received;
        received.method = "POST";
        received.target = received.path = path;
        received.body = body;
        received.headers.emplace_back("Idempotency-Key", key);
        const api_handler operation = [this](const http::request&, const caller& by) { return make(by.new_id<inbox_id>()); };
        const api_handler check = [](const http::request& asked, const caller&) { return judge(asked.body); };
        const route things("POST", path, body_kind::json, operation, check);
        auto by = who;
        return testing::await(calls_->answer(received, by, things));
    }

    testing::scratch_database scratch{{"accounts"}};
    caller who;
    unsigned status = 201;
    bool is_killed = false; // before the operation has done anything
    bool is_lost = false;   // a dependency, after the object is made
    std::vector<std::string> made;

private:
    awaitable<http::response> make(inbox_id id)
    {
        if (is_killed)
            throw std::runtime_error("killed");
        made.push_back(id.text());
        if (is_lost)
            throw dependency_error("the answer never came");
        json::writer out;
        out.begin_object().member("inboxId", id.text()).member("secret", "whsec_in_the_clear").end_object();
        http::response answer = http::created_json(out.take(), "/v1/things/" + id.text());
        answer.status = status;
        co_return answer;
    }

    static awaitable<http::response> judge(std::string body)
    {
        if (body == "nonsense")
            co_return http::problem(400, "body must be JSON");
        co_return http::response(204, "", "");
    }

    crypto::keyring keys_ = crypto::keyring::parse("one:" + to_base64(std::string(32, 'k'))).value();
    std::unique_ptr<accounts::idempotency_store> store_;
    std::unique_ptr<repeatable_calls> calls_;
};

std::string header(const http::response& answer, std::string_view name)
{
    return std::string(http::find_header(answer.headers, name).value_or(""));
}

} // namespace

TEST_CASE("the same request again gets the same answer, also from another process", "[gateway][idempotency][postgres]")
{
    world world;
    const auto first = world.post("run 7");
    world.restart();

    const auto again = world.post("run 7");

    CHECK(world.made.size() == 1);
    CHECK(again.status == 201);
    CHECK(again.body == first.body);
    CHECK(header(again, "Location") == header(first, "Location"));
    CHECK(header(again, "Content-Type") == header(first, "Content-Type"));
    CHECK(header(again, "Idempotency-Replayed") == "true");
    CHECK(header(first, "Idempotency-Replayed").empty());
}

TEST_CASE("another body with the key is 422, another path is another request", "[gateway][idempotency][postgres]")
{
    world world;
    world.post("run 7");

    CHECK(world.post("run 7", R"({"name":"x"})").status == 422);
    CHECK(world.post("run 7", "{}", "/v1/others").status == 201);
    CHECK(world.made.size() == 2);
}

TEST_CASE("another body with the key that is wrong in itself is 400, and nothing happens", "[gateway][idempotency][postgres]")
{
    world world;
    const auto first = world.post("run 7");

    CHECK(world.post("run 7", "nonsense").status == 400);
    CHECK(world.post("run 7", "nonsense").status == 400);
    CHECK(world.post("run 7", R"({"name":"x"})").status == 422);
    CHECK(world.post("run 7").body == first.body);
    CHECK(world.made.size() == 1);
}

TEST_CASE("refusals are kept, what says to try again is not", "[gateway][idempotency][postgres]")
{
    world world;
    for (const unsigned status : {400U, 403U, 404U, 409U}) {
        world.status = status;
        world.post(std::to_string(status));
        world.status = 201;
        CHECK(world.post(std::to_string(status)).status == status);
    }
    for (const unsigned status : {401U, 429U, 500U, 503U}) {
        world.status = status;
        world.post(std::to_string(status));
        world.status = 201;
        CHECK(world.post(std::to_string(status)).status == 201);
    }
}

TEST_CASE("an attempt that died between storing the key and the call is made again with the same object",
          "[gateway][idempotency][postgres]")
{
    world world;
    world.is_lost = true;
    CHECK_THROWS_AS(world.post("run 7"), dependency_error);
    world.is_lost = false;
    // What a kill -9 leaves behind: an attempt that nobody released.
    world.scratch.execute("UPDATE accounts.idempotency_key SET started_at = now()");
    world.restart();

    const auto early = world.post("run 7");
    world.scratch.execute("UPDATE accounts.idempotency_key SET started_at = now() - interval '30 seconds'");
    const auto retried = world.post("run 7");

    CHECK(early.status == 409);
    CHECK(header(early, "Retry-After") == "1");
    CHECK(retried.status == 201);
    CHECK(header(retried, "Idempotency-Replayed").empty());
    REQUIRE(world.made.size() == 2);
    CHECK(world.made[0] == world.made[1]);
}

TEST_CASE("a call that failed frees its key at once and keeps its object", "[gateway][idempotency][postgres]")
{
    world world;
    world.is_killed = true;
    CHECK_THROWS_AS(world.post("run 7"), std::runtime_error);
    const auto stored = world.scratch.execute("SELECT object_id FROM accounts.idempotency_key")[0][0].as<std::string>();
    world.is_killed = false;

    CHECK(world.post("run 7").status == 201);
    CHECK(world.made == std::vector<std::string>{stored});
}

TEST_CASE("stored answers show no secrets, and an altered one is not replayed", "[gateway][idempotency][postgres]")
{
    world world;
    world.post("run 7");
    const auto stored = world.scratch.execute("SELECT answer FROM accounts.idempotency_key")[0][0].as<std::string>();
    world.post("run 8");
    world.scratch.execute("UPDATE accounts.idempotency_key SET answer = (SELECT answer FROM accounts.idempotency_key WHERE key = "
                          "'run 7') WHERE key = 'run 8'");

    CHECK(stored.find("whsec") == std::string::npos);
    CHECK(stored.starts_with("one:"));
    CHECK_THROWS(world.post("run 8"));
    CHECK(world.post("run 7").status == 201);
}

TEST_CASE("a key has 1 to 255 printable ASCII characters", "[gateway][idempotency][postgres]")
{
    world world;

    CHECK(world.post("").status == 400);
    CHECK(world.post(std::string(256, 'a')).status == 400);
    CHECK(world.post("ümlaut").status == 400);
    CHECK(world.post("a\tb").status == 400);
    CHECK(world.post(std::string(255, '~')).status == 201);
}
