#pragma once

#include "common/core/errors.hpp"
#include "common/core/network.hpp"
#include "common/core/time.hpp"
#include "common/kafka/topics.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/postgres/inspection.hpp"
#include "common/postgres/migrations.hpp"
#include "tempinboxctl/command_result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What `doctor` makes of the facts it has read. Pure: no connections, no clock.
namespace tempinbox::ctl {

// `warn`: it works, at a risk that the message names. `bad`: something does not work, or soon will
// not.
enum class level { ok, warn, bad };

struct finding
{
    level is = level::ok;
    std::string check; // settings, schemas, topics, events, clocks, partitions, connections, rpc,
                       // certificates, submission, dns
    std::string message;
    std::string remedy; // what to do; empty where all is well
};

using findings = std::vector<finding>;

// Which settings that say where the suite is are set.
struct known_settings
{
    bool database = false;
    bool kafka_brokers = false;
    bool rpc_token_file = false;
};

findings judge_settings(const known_settings& set);
// `warning`: what kafka::login_warning says.
findings judge_login(const std::optional<std::string>& warning);
findings judge_durability(const postgres::durability& found);
findings judge_schemas(const std::vector<postgres::schema_state>& schemas);
// `topics`: how many were compared. More partitions or copies than the file has are fine.
findings judge_topics(std::size_t topics, const std::vector<kafka::topic_difference>& differences);
// Of the events of a type that were compared with Kafka, how many it does not hold.
findings judge_events(const std::string& type, std::int64_t compared, std::int64_t missing);
findings judge_clocks(const postgres::clock_comparison& compared);
findings judge_partitions(const std::vector<postgres::partitioned_table>& tables, time_point now);
// `budget`: how many connections all replicas together may open, if the operator has said.
findings judge_connections(const std::vector<postgres::connection_limit>& limits,
                           std::optional<std::int64_t> budget);
// One replica of a service; `setting` names the option it is from.
findings judge_rpc(const std::string& service, const std::string& setting,
                   const std::string& replica, const result<void>& answered);
findings judge_certificate(const std::string& file, const result<time_point>& expiry,
                           time_point now);
// A port where applications send mail with a login, from where `doctor` runs. `fault`: why a client
// that verifies certificates does not send there.
findings judge_submission(const std::string& port, const std::optional<std::string>& fault);
// Where mail for a mail domain goes, or, with `is_wildcard`, for the names below one with
// subdomains: `hosts`, which its MX records name, and where it is taken: `servers`.
findings judge_mail_exchangers(const std::string& domain, bool is_wildcard,
                               const result<std::vector<std::string>>& hosts,
                               const std::vector<std::string>& servers);
// A dependency that could not be asked.
findings judge_unreachable(const std::string& check, const std::string& name, const failure& reason,
                           const std::string& setting);

// A line for each finding: level, check, message, remedy. A failure if one is bad.
command_result to_result(const findings& found);

} // namespace tempinbox::ctl
