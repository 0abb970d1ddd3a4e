#include "common/postgres/dsn.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::postgres;

TEST_CASE("a parameter is set over what a DSN says", "[postgres]")
{
    CHECK(with_parameter("host=a dbname=b", "dbname", "c") == "host=a dbname=b dbname='c'");
    CHECK(with_parameter("postgresql://a/b", "dbname", "c d") == "postgresql://a/b?dbname=c%20d");
    CHECK(with_parameter("postgres://a/b?x=y", "dbname", "c") == "postgres://a/b?x=y&dbname=c");
}

TEST_CASE("a default gives way to what a DSN says: libpq takes the last", "[postgres]")
{
    CHECK(with_default("host=a connect_timeout=9", "connect_timeout", "3") ==
          "connect_timeout='3' host=a connect_timeout=9");
    CHECK(with_default("postgresql://a/b?connect_timeout=9", "connect_timeout", "3") ==
          "postgresql://a/b?connect_timeout=3&connect_timeout=9");
    CHECK(with_default("postgresql://a/b", "connect_timeout", "3") ==
          "postgresql://a/b?connect_timeout=3");
}

TEST_CASE("values are quoted", "[postgres]")
{
    CHECK(with_parameter("", "application_name", "it's a \\") ==
          " application_name='it\\'s a \\\\'");
}

TEST_CASE("a DSN is what libpq can read, with ports that are ports", "[postgres]")
{
    for (const auto* good :
         {"postgresql://me:p%40ss@a:5432/b", "postgres://a,b:1/c?connect_timeout=3", "host=a",
          "host=a,b port=1,65535 password='it\\'s'", "postgresql:///b?host=/run/postgresql"})
        CHECK(is_valid_dsn(good));
    // Passwords that were not escaped end up in the port or the host.
    for (const auto* bad :
         {"", "  ", "rubbish", "host=a nonsense=b", "postgresql://a:b/c@d/e", "host='a",
          "postgresql://me:p@ss@a/b", "host=a port=0", "host=a port=65536", "postgresql://[a/b"})
        CHECK_FALSE(is_valid_dsn(bad));
    CHECK_FALSE(is_valid_dsn(std::string("host=a\0b", 8)));
}
