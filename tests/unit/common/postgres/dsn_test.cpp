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
