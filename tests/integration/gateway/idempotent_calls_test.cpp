#include "gateway/idempotency/idempotent_calls.hpp"

#include "common/core/encoding.hpp"
#include "common/json/writer.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

// Idempotent calls over an operation that creates objects and counts its calls; a new one stands
// for a new process.
class world
{
public:
    world() { restart(); }

    // With the keys of a file from now on, which the calls follow.
    void restart_with(const std::string& key_file)
    {
        keys_.file = key_file;
        restart();
    }

    void restart()
    {
        store_ = std::make_unique<accounts::idempotency_repository>(scratch.db());
        calls_ =
            std::make_unique<idempotent_calls>(testing::test_host(), *store_, keys_, max_stored);
    }

    http::response post(const std::string& key, const std::string& body = "{}",
                        const std::string& path = "/v1/things")
    {
        http::request received;
        received.method = "POST";
        received.target = received.path = path;
        received.body = body;
        received.headers.emplace_back("Idempotency-Key", key);
        const api_handler operation = [this](const http::request&, const caller& by) {
            return make(by.new_id<inbox_id>());
        };
        const api_handler check = [](const http::request& request, const caller&) {
            return judge(request.body);
        };
        const route things("POST", path, body_kind::json, operation, check);
        auto by = who;
        return testing::await(calls_->handle(received, by, things));
    }

    // Posts `count` requests with their own keys at the same time; returns how many were done.
    int post_at_once(int count)
    {
        int answered = 0;
        int done = 0;
        for (int i = 0; i < count; ++i)
            boost::asio::co_spawn(testing::test_host().loop(),
                                  post_one(*this, "at once " + std::to_string(i)),
                                  [&](const std::exception_ptr&, unsigned outcome) {
                                      ++answered;
                                      done += outcome == 201 ? 1 : 0;
                                  });
        CHECK(testing::eventually([&] { return answered == count; }));
        return done;
    }

    testing::scratch_database scratch{{"accounts"}};
    std::int64_t stored()
    {
        return scratch.execute("SELECT count(*) FROM accounts.idempotency_keys")[0][0]
            .as<std::int64_t>();
    }

    caller who;
    std::int64_t max_stored = 10'000;
    unsigned status = 201;
    bool is_killed = false; // before the operation has done anything
    bool is_lost = false;   // a dependency, after the object is made
    std::vector<std::string> made;

private:
    static awaitable<unsigned> post_one(world& in, std::string key)
    {
        http::request received;
        received.method = "POST";
        received.target = received.path = "/v1/things";
        received.headers.emplace_back("Idempotency-Key", key);
        const api_handler operation = [&in](const http::request&, const caller& by) {
            return in.make(by.new_id<inbox_id>());
        };
        const route things("POST", "/v1/things", body_kind::json, operation);
        auto by = in.who;
        const auto response = co_await in.calls_->handle(received, by, things);
        co_return response.status;
    }

    awaitable<http::response> make(inbox_id id)
    {
        if (is_killed)
            throw std::runtime_error("killed");
        made.push_back(id.text());
        if (is_lost)
            throw dependency_error("the answer never came");
        json::writer out;
        out.begin_object()
            .member("inboxId", id.text())
            .member("secret", "whsec_in_the_clear")
            .end_object();
        http::response response = http::created_json(out.take(), "/v1/things/" + id.text());
        response.status = status;
        co_return response;
    }

    static awaitable<http::response> judge(std::string body)
    {
        if (body == "nonsense")
            co_return http::error_response(400, "body must be JSON");
        co_return http::response(204, "", "");
    }

    runtime::master_key_settings keys_{
        crypto::keyring::parse("one:" + to_base64(std::string(32, 'k'))).value(), {}};
    std::unique_ptr<accounts::idempotency_repository> store_;
    std::unique_ptr<idempotent_calls> calls_;
};

std::string header(const http::response& response, std::string_view name)
{
    return std::string(http::find_header(response.headers, name).value_or(""));
}

} // namespace

TEST_CASE("the same request again gets the same answer, also from another process",
          "[gateway][idempotency][postgres]")
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

TEST_CASE("another body with the key is 422, another path is another request",
          "[gateway][idempotency][postgres]")
{
    world world;
    world.post("run 7");

    CHECK(world.post("run 7", R"({"name":"x"})").status == 422);
    CHECK(world.post("run 7", "{}", "/v1/others").status == 201);
    CHECK(world.made.size() == 2);
}

TEST_CASE("an API key with responses of its own neither gives nor gets those of another",
          "[gateway][idempotency][postgres][key-access]")
{
    world world;
    const auto of_account = world.post("run 7");
    world.who.owner_of_responses = key_id::make();
    const auto of_first = world.post("run 7");
    const auto again = world.post("run 7");
    world.who.owner_of_responses = key_id::make();
    const auto of_second = world.post("run 7", R"({"name":"x"})");
    world.who.owner_of_responses = std::nullopt;

    CHECK(world.made.size() == 3);
    CHECK(of_first.body != of_account.body);
    CHECK(again.body == of_first.body);
    CHECK(header(again, "Idempotency-Replayed") == "true");
    CHECK(of_second.status == 201);
    CHECK(world.post("run 7").body == of_account.body);
    CHECK(world.stored() == 3);
}

TEST_CASE("another body with the key that is wrong in itself is 400, and nothing happens",
          "[gateway][idempotency][postgres]")
{
    world world;
    const auto first = world.post("run 7");

    CHECK(world.post("run 7", "nonsense").status == 400);
    CHECK(world.post("run 7", "nonsense").status == 400);
    CHECK(world.post("run 7", R"({"name":"x"})").status == 422);
    CHECK(world.post("run 7").body == first.body);
    CHECK(world.made.size() == 1);
}

TEST_CASE("only 2xx is stored: after a refusal or a failure the request is made again",
          "[gateway][idempotency][postgres]")
{
    world world;
    for (const unsigned status : {400U, 401U, 403U, 404U, 409U, 429U, 500U, 503U}) {
        world.status = status;
        world.post(std::to_string(status));
        world.status = 201;
        CHECK(world.post(std::to_string(status)).status == 201);
    }
}

TEST_CASE("of a first attempt that was refused nothing is stored; what may have made something "
          "keeps its object",
          "[gateway][idempotency][postgres]")
{
    world world;
    for (const unsigned status : {400U, 401U, 403U, 404U, 409U, 429U}) {
        world.status = status;
        world.post("refused");
    }
    CHECK(world.stored() == 0);

    world.status = 503;
    world.post("failed");
    world.status = 403;
    world.post("failed");
    world.status = 201;
    world.post("failed");

    CHECK(world.stored() == 1);
    CHECK(world.made.back() == world.made[world.made.size() - 2]);
    CHECK(world.made.back() == world.made[world.made.size() - 3]);
}

TEST_CASE(
    "past an account's number of keys a new one is 429 and nothing is done; stored ones go on",
    "[gateway][idempotency][postgres]")
{
    world world;
    world.max_stored = 3;
    world.restart();
    const auto first = world.post("1");
    world.status = 503;
    world.post("2");
    world.status = 201;
    world.post("3");

    const auto refused = world.post("4");
    world.restart(); // another replica
    const auto refused_there = world.post("4");
    const auto again = world.post("1");
    const auto resumed = world.post("2");
    const auto other_body = world.post("1", R"({"name":"x"})");
    const auto made = world.made.size();

    for (const auto& response : {refused, refused_there}) {
        CHECK(response.status == 429);
        CHECK(response.body.find("3 Idempotency-Keys in 24 hours") != std::string::npos);
        CHECK(std::stoi(header(response, "Retry-After")) > 3'600);
    }
    CHECK(made == 4); // 1, 2 twice, 3
    CHECK(again.body == first.body);
    CHECK(header(again, "Idempotency-Replayed") == "true");
    CHECK(resumed.status == 201);
    CHECK(other_body.status == 422);
    CHECK(world.stored() == 3);

    const auto ann = world.who.state.account;
    world.who.state.account = account_id::make();
    CHECK(world.post("4").status == 201);
    world.who.state.account = ann;
    world.scratch.execute("UPDATE accounts.idempotency_keys SET created_at = created_at - interval "
                          "'24 hours' WHERE key = '3'");
    world.restart();
    CHECK(world.post("5").status == 201);
}

TEST_CASE("requests at once do not pass an account's number of keys together",
          "[gateway][idempotency][postgres]")
{
    world world;
    world.max_stored = 5;
    world.restart();

    // Fewer pass where one was counted both as under way and as stored.
    const int done = world.post_at_once(20);
    CHECK(done >= 1);
    CHECK(done <= 5);
    CHECK(world.made.size() == static_cast<std::size_t>(done));
    CHECK(world.stored() == done);
}

TEST_CASE(
    "an attempt that died between storing the key and the call is made again with the same object",
    "[gateway][idempotency][postgres]")
{
    world world;
    world.is_lost = true;
    CHECK_THROWS_AS(world.post("run 7"), dependency_error);
    world.is_lost = false;
    // What a kill -9 leaves behind: an attempt that nobody released.
    world.scratch.execute("UPDATE accounts.idempotency_keys SET started_at = now()");
    world.restart();

    const auto early = world.post("run 7");
    world.scratch.execute(
        "UPDATE accounts.idempotency_keys SET started_at = now() - interval '30 seconds'");
    const auto retried = world.post("run 7");

    CHECK(early.status == 409);
    CHECK(header(early, "Retry-After") == "1");
    CHECK(retried.status == 201);
    CHECK(header(retried, "Idempotency-Replayed").empty());
    REQUIRE(world.made.size() == 2);
    CHECK(world.made[0] == world.made[1]);
}

TEST_CASE("a call that failed frees its key at once and keeps its object",
          "[gateway][idempotency][postgres]")
{
    world world;
    world.is_killed = true;
    CHECK_THROWS_AS(world.post("run 7"), std::runtime_error);
    const auto stored =
        world.scratch.execute("SELECT object_id FROM accounts.idempotency_keys")[0][0]
            .as<std::string>();
    world.is_killed = false;

    CHECK(world.post("run 7").status == 201);
    CHECK(world.made == std::vector<std::string>{stored});
}

TEST_CASE("stored answers show no secrets, and an altered one is not replayed",
          "[gateway][idempotency][postgres]")
{
    world world;
    world.post("run 7");
    const auto stored = world.scratch.execute("SELECT answer FROM accounts.idempotency_keys")[0][0]
                            .as<std::string>();
    world.post("run 8");
    world.scratch.execute("UPDATE accounts.idempotency_keys SET answer = (SELECT answer FROM "
                          "accounts.idempotency_keys WHERE key = "
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

TEST_CASE("stored responses open while a key of the watched file opens them",
          "[gateway][idempotency][postgres][secrets]")
{
    const auto line = [](const std::string& id, char byte) {
        return id + ":" + to_base64(std::string(32, byte)) + "\n";
    };
    const testing::scratch_folder folder;
    world things;
    things.restart_with(folder.write("keys", line("old", 'o')));
    const auto first = things.post("key 1");

    folder.write("keys", line("new", 'n') + line("old", 'o'));
    testing::test_host().files().check();
    const auto second = things.post("key 2");
    CHECK(things.post("key 1").body == first.body);
    CHECK(header(things.post("key 1"), "Idempotency-Replayed") == "true");

    folder.write("keys", line("new", 'n'));
    testing::test_host().files().check();
    CHECK(things.post("key 2").body == second.body);
    CHECK_THROWS_WITH(things.post("key 1"), Catch::Contains("cannot be opened"));
}
