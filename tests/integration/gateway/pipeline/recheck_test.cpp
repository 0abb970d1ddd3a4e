#include "integration/gateway/pipeline/arranged_api.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::arranged_api;

namespace {

const std::string slow_path = "/v1/inboxes/01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f/slow";

// An API whose operation takes as long as a test says and lets it change the account meanwhile.
class slow_api
{
public:
    unsigned send(const std::string& method = "GET") { return api.send(method, slow_path).status; }
    // A second passes while the operation runs, in which PostgreSQL executes this.
    void change_meanwhile(const std::string& sql)
    {
        meanwhile = [this, sql] {
            api.clock.advance(1s);
            if (!sql.empty())
                api.scratch.execute(sql);
        };
    }

    std::function<void()> meanwhile = [] {};
    arranged_api api{operations()};

private:
    std::vector<route> operations()
    {
        const auto act = [this](http::request&, const caller&) { return respond(); };
        const std::string path = "/v1/inboxes/{inboxId}/slow";
        std::vector<route> all;
        all.emplace_back("GET", path, accounts::scope::emails_read, body_kind::none, act);
        all.emplace_back("POST", path, accounts::scope::emails_write, body_kind::none, act);
        return all;
    }

    awaitable<http::response> respond()
    {
        meanwhile();
        co_return http::ok_json("{}");
    }
};

} // namespace

TEST_CASE("a quick response costs one lookup of the key", "[gateway][pipeline][postgres]")
{
    slow_api slow;
    const auto before = slow.api.lookups();

    CHECK(slow.send() == 200);

    CHECK(slow.api.lookups() - before == 1);
}

TEST_CASE("what was read after a long time is not given to a key revoked meanwhile, nor to a plan "
          "without API",
          "[gateway][pipeline][postgres]")
{
    slow_api slow;
    slow.change_meanwhile("UPDATE accounts.accounts SET plan = 'free'");
    CHECK(slow.send() == 403);

    slow.api.scratch.execute("UPDATE accounts.accounts SET plan = 'premium'");
    slow.change_meanwhile("UPDATE accounts.api_keys SET revoked_at = now()");
    CHECK(slow.send() == 401);
}

TEST_CASE("when nobody knows the key any more, what was read after a long time becomes 503",
          "[gateway][pipeline][postgres]")
{
    slow_api slow;
    slow.change_meanwhile("ALTER TABLE accounts.api_keys RENAME TO api_keys_away");

    CHECK(slow.send() == 503);
}

TEST_CASE("what was changed stays answered as it is, however long it took",
          "[gateway][pipeline][postgres]")
{
    slow_api slow;
    slow.change_meanwhile("UPDATE accounts.api_keys SET revoked_at = now()");

    CHECK(slow.send("POST") == 200);
}

TEST_CASE("what was read after a long time is not given to a key that expired meanwhile, nor if "
          "its inbox lost the key's tag",
          "[gateway][pipeline][key-access][postgres]")
{
    slow_api slow;
    accounts::key_access ending, tagged;
    ending.expires_at = slow.api.noon + 1s;
    tagged.tag = "ci";
    slow.change_meanwhile("");

    slow.api.key = slow.api.create_key(slow.api.account, ending);
    CHECK(slow.send() == 401);

    slow.api.key = slow.api.create_key(slow.api.account, tagged);
    CHECK(slow.send() == 200);
    slow.meanwhile = [&] {
        slow.api.clock.advance(1s);
        slow.api.is_outside_tag = true;
    };
    CHECK(slow.send() == 404);
}
