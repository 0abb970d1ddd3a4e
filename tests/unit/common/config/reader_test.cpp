#include "common/config/reader.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using given = std::map<std::string, std::string>;
using namespace std::chrono_literals;

TEST_CASE("a reader without values answers the defaults and collects the declarations", "[config]")
{
    config::reader reader;

    CHECK(reader.integer("writers", 2, 1, 64, "Writers") == 2);
    CHECK(reader.duration("drain-timeout", 25s, 0s, 1h, "Drain") == 25s);
    CHECK(reader.bytes("limit", 1024, 1, 1 << 20, "Limit") == 1024);
    CHECK(reader.address("listen", "127.0.0.1:80", "Listen").port == 80);
    CHECK_FALSE(reader.flag("allow-http", false, "Http"));

    CHECK(reader.problems().empty());
    REQUIRE(reader.declared().size() == 5);
    CHECK(reader.declared()[0].allowed == "1 to 64");
    CHECK(reader.declared()[1].fallback == "25s");
    CHECK(reader.declared()[2].fallback == "1KiB");
}

TEST_CASE("values are converted", "[config]")
{
    config::reader reader({{"writers", "7"},
                           {"listen", "[::1]:8080"},
                           {"peers", "a:1, b:2"},
                           {"networks", "10.0.0.0/8,::1"},
                           {"names", "x, y"},
                           {"level", "debug"}});

    CHECK(reader.integer("writers", 2, 1, 64, "") == 7);
    CHECK(reader.address("listen", "127.0.0.1:80", "") == host_port("::1", 8080));
    CHECK(reader.addresses("peers", "", "").size() == 2);
    CHECK(reader.networks("networks", "", "").size() == 2);
    CHECK(reader.list("names", "", "") == std::vector<std::string>{"x", "y"});
    CHECK(reader.choice("level", "info", {"info", "debug"}, "") == "debug");
    CHECK(reader.problems().empty());
}

TEST_CASE("every bad value is noted with its names and the default is used", "[config]")
{
    config::reader reader({{"writers", "many"},
                           {"listen", "nowhere"},
                           {"drain-timeout", "2d"},
                           {"level", "loud"},
                           {"key-file", "/does/not/exist"}});

    CHECK(reader.integer("writers", 2, 1, 64, "") == 2);
    CHECK(reader.address("listen", "127.0.0.1:80", "").port == 80);
    CHECK(reader.duration("drain-timeout", 25s, 0s, 1h, "") == 25s);
    CHECK(reader.choice("level", "info", {"info", "debug"}, "") == "info");
    reader.readable_file("key-file", "", "");
    reader.required_text("database", "");
    reader.addresses("peers", "", "");

    REQUIRE(reader.problems().size() == 7);
    CHECK(reader.problems()[0] ==
          "--writers (TEMPINBOX_WRITERS) must be an integer from 1 to 64, not \"many\"");
    CHECK(reader.problems()[4] ==
          "--key-file (TEMPINBOX_KEY_FILE) cannot be read: \"/does/not/exist\"");
    CHECK(reader.problems()[5] == "--database (TEMPINBOX_DATABASE) must be given");
    CHECK(reader.problems()[6] == "--peers (TEMPINBOX_PEERS) must name at least one host:port");
}

TEST_CASE("a directory is not a readable file", "[config]")
{
    config::reader reader(given{{"key-file", "/"}});
    reader.readable_file("key-file", "", "");
    CHECK(reader.problems().size() == 1);
}

TEST_CASE("the effective settings hide passwords", "[config]")
{
    config::reader reader(given{{"database", "postgresql://me:se:cr@t@db:5432/x?sslmode=require"}});
    reader.required_text("database", "");
    reader.integer("writers", 2, 1, 64, "");

    CHECK(reader.effective() == "database=postgresql://me:***@db:5432/x?sslmode=require writers=2");
}

TEST_CASE("passwords are masked in every form", "[config]")
{
    CHECK(config::mask_passwords("host=a password=secret dbname=b") ==
          "host=a password=*** dbname=b");
    CHECK(config::mask_passwords("password='se\\'cr et' host=a") == "password=*** host=a");
    CHECK(config::mask_passwords("postgresql://host/db?user=a&password=secret&x=y") ==
          "postgresql://host/db?user=a&password=***&x=y");
    CHECK(config::mask_passwords("postgresql://user@host:5432/db") ==
          "postgresql://user@host:5432/db");
    CHECK(config::mask_passwords("127.0.0.1:80") == "127.0.0.1:80");
    // libpq accepts blanks around the sign, and a backslash before one that is part of the value.
    CHECK(config::mask_passwords("host=a password = secret dbname=b") ==
          "host=a password = *** dbname=b");
    CHECK(config::mask_passwords("password\t=\n'se cr et' host=a") == "password\t=\n*** host=a");
    CHECK(config::mask_passwords("password=se\\ cret host=a") == "password=*** host=a");
    CHECK(config::mask_passwords("host=a password =") == "host=a password =***");
    CHECK(config::mask_passwords("user=password host=a") == "user=password host=a");
}

TEST_CASE("what a program takes is printed for tools", "[config]")
{
    config::reader reader;
    reader.address("admin-listen", "127.0.0.1:9090", "Where \"metrics\" are");
    reader.required_text("database", "PostgreSQL");
    reader.mark_secret("database");

    CHECK(
        config::settings_json("tempinbox-x", "does x", reader.declared()) ==
        R"({"program":"tempinbox-x","purpose":"does x","settings":[)"
        R"({"name":"database","environment":"TEMPINBOX_DATABASE","section":"PostgreSQL","default":"","meaning":"PostgreSQL",)"
        R"("values":"","required":true,"secret":true},)"
        R"({"name":"admin-listen","environment":"TEMPINBOX_ADMIN_LISTEN","section":"Process","default":"127.0.0.1:9090",)"
        R"("meaning":"Where \"metrics\" are","values":"host:port","required":false,"secret":false}]})"
        "\n");
}
