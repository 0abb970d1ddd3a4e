#include "tempinboxctl/findings.hpp"

#include "common/config/reader.hpp"
#include "common/core/text.hpp"
#include "tempinboxctl/topic_file.hpp"

#include <algorithm>
#include <cstdio>

namespace tempinbox::ctl {
namespace {

constexpr std::chrono::seconds notable_offset{5};
// Days are made three ahead, hours 26 (docs/operations.md, "Backups and long transactions").
constexpr std::chrono::hours min_partitions_ahead{12};
constexpr std::chrono::days certificate_notice{14};
// Of a limit of connections, in percent.
constexpr std::int64_t many_connections = 80;
constexpr std::int64_t too_many_connections = 95;

finding ok(std::string check, std::string message)
{
    return {level::ok, std::move(check), std::move(message), {}};
}

finding warn(std::string check, std::string message, std::string remedy)
{
    return {level::warn, std::move(check), std::move(message), std::move(remedy)};
}

finding bad(std::string check, std::string message, std::string remedy)
{
    return {level::bad, std::move(check), std::move(message), std::move(remedy)};
}

std::string setting_text(const std::string& name)
{
    return "--" + name + " or " + config::environment_name(name);
}

std::string seconds_text(std::chrono::microseconds time)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3f s", std::chrono::duration<double>(time).count());
    return text;
}

constexpr const char* migrate = "run tempinbox-migrate of this release";

findings judge_schema(const postgres::schema_state& one)
{
    const auto name = "schema " + one.schema;
    if (!one.conflict.empty())
        return {bad("schemas", one.conflict, "restore the database that belongs to this release")};
    if (one.applied == 0)
        return {bad("schemas", name + " is missing", migrate)};
    if (one.applied > one.newest)
        return {warn("schemas",
                     name + " is at " + std::to_string(one.applied) +
                         ", newer than this release (" + std::to_string(one.newest) + ")",
                     "finish the upgrade; use the tempinboxctl of that release")};
    findings found;
    if (!one.missing.empty()) {
        std::vector<std::string> missing;
        missing.reserve(one.missing.size());
        for (const int version : one.missing)
            missing.push_back(std::to_string(version));
        found.push_back(bad("schemas",
                            name + " is at " + std::to_string(one.applied) +
                                ", this release needs " + std::to_string(one.newest) +
                                ": not applied: " + join_list(missing),
                            migrate));
    }
    if (!one.changed_functions.empty())
        found.push_back(bad(
            "schemas",
            name + " has other functions than this release: " + join_list(one.changed_functions),
            migrate));
    if (found.empty())
        found.push_back(ok("schemas", name + " is at " + std::to_string(one.applied)));
    return found;
}

using difference = kafka::topic_difference;

// Fewer copies than the file has; more are the operator's choice.
bool is_fewer(const difference& one)
{
    return one.found.size() < one.wanted.size() ||
           (one.found.size() == one.wanted.size() && one.found < one.wanted);
}

std::optional<finding> judge_topic(const difference& one)
{
    const auto message = one.topic + " " + text_of(one);
    switch (one.what) {
    case difference::kind::missing:
        return bad("topics", "topic " + one.topic + " is missing", "run tempinboxctl topics apply");
    case difference::kind::config:
        return warn("topics", message, "run tempinboxctl topics apply");
    case difference::kind::fewer_partitions:
        return warn("topics", message,
                    "name your number by --partitions, or run tempinboxctl topics apply "
                    "--repartition");
    case difference::kind::replication:
        if (is_fewer(one))
            return warn("topics", message, "add copies by kafka-reassign-partitions");
        return std::nullopt;
    case difference::kind::more_partitions:
        return std::nullopt;
    }
    return std::nullopt;
}

findings judge_table(const postgres::partitioned_table& table, time_point now)
{
    constexpr const char* remedy = "see that the service of the schema runs; its log says what "
                                   "keeps it from making partitions";
    findings found;
    const auto until = postgres::covered_until(table, now);
    if (until == now)
        found.push_back(
            bad("partitions", table.name + " has no partition for the present", remedy));
    else if (until < now + min_partitions_ahead)
        found.push_back(warn("partitions",
                             table.name + " has partitions until " + to_iso8601(until) + " only",
                             remedy));
    if (table.default_rows > 0) {
        const bool are_more = table.default_rows >= postgres::partitioned_table::max_counted;
        found.push_back(warn("partitions",
                             table.name + " has " + std::to_string(table.default_rows) +
                                 (are_more ? " rows or more" : " rows") +
                                 " in its default partition",
                             remedy));
    }
    if (found.empty())
        found.push_back(
            ok("partitions", table.name + " has partitions until " + to_iso8601(until)));
    return found;
}

finding judge_limit(const postgres::connection_limit& one)
{
    const auto message = std::to_string(one.used) + " of " + std::to_string(one.limit) +
                         " connections of the " + one.of + " are in use";
    constexpr const char* remedy =
        "raise the limit, or lower database-connections or the number of replicas";
    if (one.used * 100 >= one.limit * too_many_connections)
        return bad("connections", message, remedy);
    if (one.used * 100 >= one.limit * many_connections)
        return warn("connections", message, remedy);
    return ok("connections", message);
}

std::string_view text_of(level is)
{
    switch (is) {
    case level::ok:
        return "ok";
    case level::warn:
        return "warn";
    case level::bad:
        return "bad";
    }
    return "bad";
}

std::string padded(std::string_view text, std::size_t width)
{
    return std::string(text) + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

void append(findings& to, findings more)
{
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

} // namespace

findings judge_settings(const known_settings& set)
{
    findings found;
    const auto miss = [&found](const std::string& setting, const std::string& unchecked) {
        found.push_back(warn("settings",
                             "--" + setting + " is not set: " + unchecked + " are not checked",
                             "set " + setting_text(setting)));
    };
    if (!set.database)
        miss("database", "schemas, clocks, partitions and connections");
    if (!set.kafka_brokers)
        miss("kafka-brokers", "topics");
    if (!set.rpc_token_file)
        miss("rpc-token-file", "calls to the services");
    if (found.empty())
        found.push_back(ok("settings", "database, kafka-brokers and rpc-token-file are set"));
    return found;
}

findings judge_login(const std::optional<std::string>& warning)
{
    if (!warning)
        return {};
    return {warn("settings", *warning,
                 "run the programs of Debian 13, or log in by PLAIN over TLS or mutual TLS")};
}

findings judge_durability(const postgres::durability& found)
{
    std::vector<std::string> off;
    if (!found.fsync)
        off.emplace_back("fsync");
    if (!found.full_page_writes)
        off.emplace_back("full_page_writes");
    if (!found.synchronous_commit)
        off.emplace_back("synchronous_commit");
    if (off.empty())
        return {ok("settings", "PostgreSQL keeps what it has committed")};
    return {
        warn("settings",
             "PostgreSQL runs without " + join_list(off) + ": a crash can lose mail answered 250",
             "switch it on, unless this is a test")};
}

findings judge_schemas(const std::vector<postgres::schema_state>& schemas)
{
    findings found;
    for (const auto& one : schemas)
        append(found, judge_schema(one));
    return found;
}

findings judge_topics(std::size_t topics, const std::vector<difference>& differences)
{
    findings found;
    for (const auto& one : differences)
        if (auto judged = judge_topic(one))
            found.push_back(std::move(*judged));
    if (found.empty())
        found.push_back(ok("topics", std::to_string(topics) + " topics are as listed"));
    return found;
}

findings judge_events(const std::string& type, std::int64_t compared, std::int64_t missing)
{
    const auto of_all = " of " + std::to_string(compared) + " recent events of " + type;
    if (missing == 0)
        return {ok("events", "all" + of_all + " are in Kafka")};
    return {bad("events", std::to_string(missing) + of_all + " are not in Kafka",
                "run tempinboxctl events verify --type " + type +
                    " --repair, which looks through all that the topic's retention keeps")};
}

findings judge_clocks(const postgres::clock_comparison& compared)
{
    const auto offset = std::chrono::abs(compared.ahead);
    const auto message = "this clock is " + seconds_text(offset) +
                         (compared.ahead.count() < 0 ? " behind" : " ahead of") + " PostgreSQL's";
    constexpr const char* remedy = "set the clocks by NTP";
    if (offset > postgres::clock_watch::max_offset)
        return {bad("clocks", message + ": mail would be refused with 451", remedy)};
    if (offset > notable_offset)
        return {warn("clocks", message, remedy)};
    return {ok("clocks", message)};
}

findings judge_partitions(const std::vector<postgres::partitioned_table>& tables, time_point now)
{
    findings found;
    for (const auto& table : tables)
        append(found, judge_table(table, now));
    return found;
}

findings judge_connections(const std::vector<postgres::connection_limit>& limits,
                           std::optional<std::int64_t> budget)
{
    findings found;
    for (const auto& one : limits)
        found.push_back(judge_limit(one));
    if (!budget)
        return found;
    for (const auto& one : limits) {
        const auto message = "all replicas may open " + std::to_string(*budget) +
                             " connections, the " + one.of + " allows " + std::to_string(one.limit);
        found.push_back(*budget > one.limit
                            ? bad("connections", message,
                                  "raise the limit, or lower database-connections or the number "
                                  "of replicas")
                            : ok("connections", message));
    }
    return found;
}

findings judge_rpc(const std::string& service, const std::string& setting,
                   const std::string& replica, const result<void>& answered)
{
    const auto name = service + " at " + replica;
    if (answered)
        return {ok("rpc", name + " answers")};
    const bool is_token = answered.error().code == errc::unauthenticated;
    const bool is_away = answered.error().code == errc::unavailable ||
                         answered.error().code == errc::deadline_exceeded;
    return {bad("rpc", name + ": " + answered.error().message,
                is_token
                    ? "give the token that the services have: " + setting_text("rpc-token-file")
                : is_away ? "see that it runs and is reached from here: " + setting_text(setting)
                          : "see its log")};
}

findings judge_certificate(const std::string& file, const result<time_point>& expiry,
                           time_point now)
{
    constexpr const char* remedy = "renew it; the services take a new file by themselves";
    if (!expiry)
        return {
            bad("certificates", expiry.error().message, "name the file as the services see it")};
    const auto time = to_iso8601(*expiry);
    if (*expiry <= now)
        return {bad("certificates", file + " expired at " + time, remedy)};
    if (*expiry < now + certificate_notice)
        return {warn("certificates", file + " expires at " + time, remedy)};
    return {ok("certificates", file + " is good until " + time)};
}

findings judge_submission(const std::string& port, const std::optional<std::string>& fault)
{
    if (fault)
        return {bad("submission", port + ": " + *fault,
                    "give mail-ingest a certificate of this name by an authority that clients know "
                    "(submission-tls-certificate-file), or clients your authority's")};
    return {ok("submission", port + " has a certificate that clients take")};
}

findings judge_mail_exchangers(const std::string& domain, bool is_wildcard,
                               const result<std::vector<std::string>>& hosts,
                               const std::vector<std::string>& servers)
{
    const auto name = (is_wildcard ? "*." : "") + domain;
    const auto remedy = "give it the record: " + name + ". MX 10 " + servers.front() + ".";
    if (!hosts)
        return {bad("dns", "MX of " + name + ": " + hosts.error().message,
                    "name a server that is reached from here: --name-server")};
    if (hosts->empty())
        return {bad("dns", name + " has no MX record: its mail does not come", remedy)};
    const auto is_ours = [&](const std::string& host) {
        return std::find(servers.begin(), servers.end(), host) != servers.end();
    };
    if (std::none_of(hosts->begin(), hosts->end(), is_ours))
        return {bad("dns", "mail for " + name + " goes to " + join_list(*hosts), remedy)};
    if (!std::all_of(hosts->begin(), hosts->end(), is_ours))
        return {warn("dns", "mail for " + name + " goes to " + join_list(*hosts) + " by turns",
                     "see that all of these are this suite, and name them: --mx")};
    return {ok("dns", "mail for " + name + " goes to " + join_list(*hosts))};
}

findings judge_unreachable(const std::string& check, const std::string& name, const failure& reason,
                           const std::string& setting)
{
    return {bad(check, name + ": " + reason.message,
                "see that it runs and is reached from here: " + setting_text(setting))};
}

command_result to_result(const findings& found)
{
    std::vector<record> all;
    std::string lines;
    for (const auto& one : found) {
        all.emplace_back()
            .add("level", std::string(text_of(one.is)))
            .add("check", one.check)
            .add("message", one.message)
            .add("remedy", one.remedy.empty() ? record::field() : record::field(one.remedy));
        lines += padded(text_of(one.is), 4) + "  " + padded(one.check, 12) + "  " + one.message;
        lines += (one.remedy.empty() ? "" : "; " + one.remedy) + "\n";
    }
    command_result shown("findings", std::move(all));
    shown.text = std::move(lines);
    shown.is_failure = std::any_of(found.begin(), found.end(),
                                   [](const finding& one) { return one.is == level::bad; });
    return shown;
}

} // namespace tempinbox::ctl
