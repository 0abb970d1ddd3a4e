#include "common/testing/scratch_database.hpp"

#include "common/core/encoding.hpp"
#include "common/kafka/topics.hpp"
#include "common/postgres/dsn.hpp"
#include "common/testing/await.hpp"
#include "migrations/schemas.hpp"

#include <sodium.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace tempinbox::testing {
namespace {

std::string required_environment(const char* name)
{
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0')
        throw std::runtime_error(std::string(name) +
                                 " is not set; run these tests by `./dev test integration`");
    return value;
}

std::string with_database(const std::string& dsn, const std::string& name)
{
    return postgres::with_parameter(dsn, "dbname", name);
}

void execute_on(const std::string& dsn, const std::string& sql)
{
    pqxx::connection connection(dsn);
    pqxx::nontransaction work(connection);
    work.exec(sql);
}

// A leftover is harmless, so the test goes on.
void drop(const std::string& server, const std::string& name) noexcept
{
    try {
        execute_on(server, "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    } catch (const std::exception& error) {
        // A destructor calls this, so it cannot throw.
        std::fprintf(stderr, "database %s was not dropped: %s\n", name.c_str(), error.what());
    }
}

// Random, since a killed run leaves its databases behind.
std::string fresh_name(const std::string& kind)
{
    std::array<char, 6> bytes;
    randombytes_buf(bytes.data(), bytes.size());
    return "tempinbox_" + kind + "_" + to_hex({bytes.data(), bytes.size()});
}

// Drops the templates when the program ends.
struct template_cache
{
    std::string server = required_environment("TEMPINBOX_TEST_DATABASE");
    std::map<std::string, std::string> names;

    // Creates libpqxx's static objects, made at its first statement, before this one, so that they
    // still exist when this one is destroyed.
    template_cache() { execute_on(server, "SELECT 1"); }
    template_cache(const template_cache&) = delete;
    ~template_cache()
    {
        for (const auto& [schemas, name] : names)
            drop(server, name);
    }

    const std::string& of(const std::vector<std::string>& schemas)
    {
        std::string key;
        for (const auto& schema : schemas)
            key += schema + " ";
        auto& name = names[key];
        if (!name.empty())
            return name;
        name = fresh_name("template");
        execute_on(server, "CREATE DATABASE " + name);
        for (const auto& schema : schemas) {
            const auto applied =
                postgres::migrate(with_database(server, name), migrations::of_schema(schema));
            if (!applied)
                throw std::runtime_error("migrating " + schema + ": " + applied.error().message);
        }
        return name;
    }
};

template_cache& templates()
{
    static template_cache cache;
    return cache;
}

} // namespace

scratch_database::scratch_database(std::vector<std::string> schemas) : name_(fresh_name("scratch"))
{
    auto& cache = templates();
    execute_on(cache.server, "CREATE DATABASE " + name_ + " TEMPLATE " + cache.of(schemas));
    dsn_ = with_database(cache.server, name_);
    postgres::settings chosen;
    chosen.dsn = dsn_;
    pool_ = std::make_unique<postgres::pool>(test_host(), chosen);
}

scratch_database::~scratch_database()
{
    pool_->stop();
    pool_.reset();
    drop(templates().server, name_);
}

pqxx::result scratch_database::execute(const std::string& sql)
{
    pqxx::connection connection(dsn_);
    pqxx::nontransaction work(connection);
    return work.exec(sql);
}

std::string test_brokers()
{
    return required_environment("TEMPINBOX_TEST_KAFKA");
}

std::string scratch_topic(const std::string& prefix, int partitions)
{
    kafka::topic_spec spec;
    spec.name = prefix + "." + fresh_name("topic");
    spec.partitions = partitions;
    kafka::settings cluster;
    cluster.brokers = test_brokers();
    const auto made = kafka::apply_topics(cluster, {spec}, std::chrono::seconds(30));
    if (!made)
        throw std::runtime_error(made.error().message);
    return spec.name;
}

} // namespace tempinbox::testing
