#pragma once

#include "common/postgres/pool.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tempinbox::testing {

// A separate database on the server named by TEMPINBOX_TEST_DATABASE (a DSN that may create
// databases), with the named schemas migrated to their newest version; dropped at the end. A
// migrated template is made once a run, so the next database costs milliseconds.
class scratch_database
{
public:
    explicit scratch_database(std::vector<std::string> schemas = {"accounts", "mailbox", "quota",
                                                                  "webhooks"});
    ~scratch_database();
    scratch_database(const scratch_database&) = delete;

    const std::string& dsn() const { return dsn_; }
    postgres::pool& db() { return *pool_; }
    // For test setup and checks: runs SQL at once on a separate connection and returns the rows.
    pqxx::result execute(const std::string& sql);

private:
    std::string name_;
    std::string dsn_;
    std::unique_ptr<postgres::pool> pool_;
};

// The brokers of TEMPINBOX_TEST_KAFKA; and the name of a new topic with that many partitions.
std::string test_brokers();
std::string scratch_topic(const std::string& prefix, int partitions = 3);

} // namespace tempinbox::testing
