#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/events/events.hpp"
#include "common/http/resolve.hpp"
#include "common/kafka/login.hpp"
#include "common/mail/client.hpp"
#include "common/rpc/inbox_methods.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/webhook_methods.hpp"
#include "common/tls/expiry.hpp"
#include "mailbox/address_rules.hpp"
#include "migrations/schemas.hpp"
#include "tempinboxctl/event_check.hpp"
#include "tempinboxctl/findings.hpp"
#include "tempinboxctl/mail_exchangers.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/topic_file.hpp"

#include <functional>

namespace tempinbox::ctl {
namespace {

constexpr std::int64_t default_timeout_seconds = 10;
constexpr std::chrono::minutes published_period{15};

struct doctor_request
{
    std::vector<kafka::topic_spec> topics;
    std::vector<std::string> certificates;
    std::vector<mail::server> submission;
    std::vector<std::string> mail_servers; // in lower case
    std::string name_server;               // empty: the system's
    std::optional<std::int64_t> connection_budget;
    std::chrono::seconds timeout{default_timeout_seconds};
};

// The option's values, each HOST:PORT.
result<void> read_submission(const arguments& given, const std::string& option,
                             mail::server::protection tls, doctor_request& request)
{
    for (const auto& value : given.values(option)) {
        const auto address = host_port::parse(value);
        if (!address)
            return failure{errc::invalid_argument, "--" + option + ": " + address.error().message};
        mail::server server;
        server.address = address->text();
        server.tls = tls;
        server.ca_file = given.value("submission-ca").value_or("");
        server.connect_timeout = server.timeout = request.timeout;
        request.submission.push_back(std::move(server));
    }
    return {};
}

result<doctor_request> read_request(const arguments& given)
{
    doctor_request request;
    topic_overrides overrides;
    const auto partitions = given.integer("partitions", 1, 10'000);
    if (!partitions)
        return partitions.error();
    overrides.partitions = *partitions;
    const auto replication = given.integer("replication", 1, 100);
    if (!replication)
        return replication.error();
    overrides.replication = *replication;
    auto topics = read_topic_file(given.value("topics"), overrides);
    if (!topics)
        return topics.error();
    request.topics = std::move(*topics);
    const auto budget = given.integer("connection-budget", 1, 1'000'000);
    if (!budget)
        return budget.error();
    request.connection_budget = *budget;
    const auto timeout = given.integer("timeout", 1, 3'600);
    if (!timeout)
        return timeout.error();
    request.timeout = std::chrono::seconds(timeout->value_or(default_timeout_seconds));
    request.certificates = given.values("certificate");
    for (const auto& [option, tls] : {std::pair("submission", mail::server::protection::starttls),
                                      std::pair("submissions", mail::server::protection::tls)}) {
        const auto read = read_submission(given, option, tls, request);
        if (!read)
            return read.error();
    }
    for (const auto& host : given.values("mx"))
        request.mail_servers.push_back(
            to_lower_ascii(host.substr(0, host.find_last_not_of('.') + 1)));
    request.name_server = given.value("name-server").value_or("");
    if (!request.name_server.empty() && request.mail_servers.empty())
        return failure{errc::invalid_argument, "--name-server is for --mx, which is missing"};
    return request;
}

void append(findings& to, const findings& more)
{
    to.insert(to.end(), more.begin(), more.end());
}

template <class Fact>
awaitable<result<Fact>> attempt(awaitable<Fact> reading)
{
    try {
        co_return co_await std::move(reading);
    } catch (const std::exception& error) {
        // What PostgreSQL refuses or leaves unanswered is a finding like any other.
        co_return failure(errc::unavailable, error.what());
    }
}

template <class Fact, class Judge>
awaitable<void> check(findings& found, std::string name, awaitable<Fact> reading, Judge judge)
{
    const auto fact = co_await attempt(std::move(reading));
    append(found,
           fact ? judge(*fact) : judge_unreachable(name, "PostgreSQL", fact.error(), "database"));
}

// Whether it answers.
awaitable<bool> check_database(session& suite, const doctor_request& request, findings& found)
{
    std::vector<postgres::schema_files> files;
    std::vector<std::string> names;
    for (const auto schema : migrations::schemas()) {
        files.push_back(migrations::of_schema(schema));
        names.emplace_back(schema);
    }
    // Blocks, as nothing else runs on the loop.
    const auto schemas = postgres::compare_schemas(suite.chosen().database, files);
    if (!schemas) {
        append(found, judge_unreachable("schemas", "PostgreSQL", schemas.error(), "database"));
        co_return false;
    }
    append(found, judge_schemas(*schemas));

    auto& db = suite.db();
    co_await check(found, "settings", postgres::read_durability(db), judge_durability);
    co_await check(found, "clocks", postgres::compare_clocks(db, suite.host().clock()),
                   judge_clocks);
    const auto now = suite.host().clock().now();
    co_await check(found, "partitions", postgres::read_partitioned_tables(db, std::move(names)),
                   [now](const std::vector<postgres::partitioned_table>& tables) {
                       return judge_partitions(tables, now);
                   });
    const auto budget = request.connection_budget;
    co_await check(found, "connections", postgres::read_connection_limits(db),
                   [budget](const std::vector<postgres::connection_limit>& limits) {
                       return judge_connections(limits, budget);
                   });
    co_return true;
}

// Whether Kafka answers. Blocks, as nothing else runs on the loop.
bool check_topics(const kafka::settings& cluster, const doctor_request& request, findings& found)
{
    const auto differences = kafka::compare_topics(cluster, request.topics, request.timeout);
    append(found, differences
                      ? judge_topics(request.topics.size(), *differences)
                      : judge_unreachable("topics", "Kafka", differences.error(), "kafka-brokers"));
    return differences.has_value();
}

// The events of a quarter of an hour: few, though those of inboxes are found by reading all of
// their rows, seconds for millions. A topic that is missing, or keeps
// nothing as long, is left to check_topics.
awaitable<void> check_published(session& suite, std::chrono::seconds timeout, findings& found)
{
    for (const auto* type : {events::topics::email_received, events::topics::inbox_created,
                             events::topics::inbox_expired}) {
        event_check_request request;
        request.type = type;
        request.since = suite.host().clock().now() - min_event_age - published_period;
        request.timeout = timeout;
        try {
            const auto compared = co_await check_events(suite, std::move(request));
            if (compared)
                append(found, judge_events(type, compared->compared, compared->missing));
            else if (compared.error().code == errc::unavailable)
                append(found,
                       judge_unreachable("events", "Kafka", compared.error(), "kafka-brokers"));
        } catch (const std::exception& error) {
            // What PostgreSQL refuses or leaves unanswered is a finding like any other.
            append(found, judge_unreachable("events", "PostgreSQL",
                                            failure(errc::unavailable, error.what()), "database"));
        }
    }
}

// A call that changes nothing.
template <class Request, class Response>
awaitable<result<void>> ask(rpc::client& replica, rpc::method<Request, Response> method,
                            Request request)
{
    const auto answered = co_await replica.call(method, std::move(request));
    if (!answered)
        co_return answered.error();
    co_return result<void>();
}

awaitable<result<void>> ask_inbox(rpc::client& replica)
{
    return ask(replica, inbox_methods::list_domains, {});
}

awaitable<result<void>> ask_rate_limit(rpc::client& replica)
{
    ratelimit::v1::GetUsageRequest request;
    request.set_account_id(account_id::make().text());
    request.set_days(1);
    return ask(replica, rate_limit_methods::get_usage, std::move(request));
}

awaitable<result<void>> ask_webhook_dispatcher(rpc::client& replica)
{
    return ask(replica, webhook_methods::count_secrets, {});
}

struct rpc_service
{
    std::string name;
    std::string setting;
    std::vector<host_port> settings::* addresses;
    awaitable<result<void>> (*ask)(rpc::client&);
};

// Every address behind every name: one replica that is away would hide behind the others.
awaitable<void> check_service(session& suite, rpc_service service, std::chrono::seconds timeout,
                              findings& found)
{
    for (const auto& named : suite.chosen().*service.addresses) {
        const auto until = std::chrono::steady_clock::now() + timeout;
        const auto resolved = co_await http::resolve(suite.host().loop(), {}, named.host, until);
        if (resolved.addresses.empty()) {
            const result<void> unresolved =
                failure{errc::unavailable, resolved.error_text.empty() ? "the name has no address"
                                                                       : resolved.error_text};
            append(found, judge_rpc(service.name, service.setting, named.text(), unresolved));
        }
        for (const auto& address : resolved.addresses) {
            const host_port replica{address.to_string(), named.port};
            rpc::client client(suite.host(), {replica}, suite.tokens(), suite.calls(named.host));
            const auto answered = co_await service.ask(client);
            append(found, judge_rpc(service.name, service.setting, replica.text(), answered));
        }
    }
}

awaitable<void> check_services(session& suite, std::chrono::seconds timeout, findings& found)
{
    const std::vector<rpc_service> services{
        {"inbox", "inbox-rpc", &settings::inbox_rpc, ask_inbox},
        {"rate-limit", "rate-limit-rpc", &settings::rate_limit_rpc, ask_rate_limit},
        {"webhook-dispatcher", "webhook-dispatcher-rpc", &settings::webhook_dispatcher_rpc,
         ask_webhook_dispatcher}};
    for (const auto& service : services)
        co_await check_service(suite, service, timeout, found);
}

// Those that the operator names, and the one that Kafka's clients show.
void check_certificates(session& suite, const doctor_request& request, findings& found)
{
    auto files = request.certificates;
    const auto& properties = suite.chosen().kafka.properties;
    if (const auto own = properties.find("ssl.certificate.location"); own != properties.end())
        files.push_back(own->second);
    if (suite.chosen().rpc_tls.is_set())
        files.push_back(suite.chosen().rpc_tls.certificate_file);
    const auto now = suite.host().clock().now();
    for (const auto& file : files)
        append(found, judge_certificate(file, tls::find_expiry(file), now));
}

// Blocks, as nothing else runs on the loop.
void check_submission(const doctor_request& request, findings& found)
{
    for (const auto& server : request.submission)
        append(found, judge_submission(server.address, mail::check_connection(server)));
}

// Blocks, as nothing else runs on the loop. Whether a name server answered.
bool check_mail_exchangers(const std::string& domain, bool is_wildcard,
                           const doctor_request& request, findings& found)
{
    // A name that nobody has, so that only a wildcard answers for it.
    const auto name = is_wildcard ? mailbox::make_random_local_part() + "." + domain : domain;
    const auto hosts = find_mail_exchangers(name, request.name_server, request.timeout);
    append(found, judge_mail_exchangers(domain, is_wildcard, hosts, request.mail_servers));
    return hosts.has_value();
}

// Those of the mail domains; of the names below one, too, if accounts have catch-alls there or may.
awaitable<void> check_dns(session& suite, const doctor_request& request, findings& found)
{
    const auto listed = co_await suite.inbox().call(inbox_methods::list_domains, {});
    if (!listed) {
        append(found, judge_unreachable("dns", "inbox", listed.error(), "inbox-rpc"));
        co_return;
    }
    // Once no name server answers, none does for the others.
    for (const auto& domain : listed->domains())
        if (!check_mail_exchangers(domain.domain(), false, request, found) ||
            ((domain.takes_subdomains() || domain.has_subdomains()) &&
             !check_mail_exchangers(domain.domain(), true, request, found)))
            co_return;
}

awaitable<result<command_result>> examine(session& suite, arguments given)
{
    const auto request = read_request(given);
    if (!request)
        co_return request.error();
    const auto& chosen = suite.chosen();
    known_settings set;
    set.database = suite.has_database();
    set.kafka_brokers = !chosen.kafka.brokers.empty();
    set.rpc_token_file = !chosen.rpc_token_file.empty();

    auto found = judge_settings(set);
    append(found, judge_login(kafka::login_warning(chosen.kafka, kafka::library_in_use())));
    bool has_database = false, has_kafka = false;
    if (set.database)
        has_database = co_await check_database(suite, *request, found);
    if (set.kafka_brokers)
        has_kafka = check_topics(suite.kafka(), *request, found);
    if (has_database && has_kafka)
        co_await check_published(suite, request->timeout, found);
    if (set.rpc_token_file)
        co_await check_services(suite, request->timeout, found);
    check_certificates(suite, *request, found);
    check_submission(*request, found);
    if (set.rpc_token_file && !request->mail_servers.empty())
        co_await check_dns(suite, *request, found);
    co_return to_result(found);
}

} // namespace

std::vector<command> doctor_commands()
{
    std::vector<command> commands;
    auto& examining = commands.emplace_back(
        "doctor", "Says what is wrong with a suite and what to do; exit code 1 if anything is bad");
    examining.options.emplace_back("topics", "FILE",
                                   "the topics as data; without it those of this release",
                                   option::kind::optional);
    examining.options.emplace_back("partitions", "N",
                                   "partitions of each topic, instead of the file's",
                                   option::kind::optional);
    examining.options.emplace_back("replication", "N",
                                   "copies of each partition, instead of the file's",
                                   option::kind::optional);
    examining.options.emplace_back("connection-budget", "N",
                                   "how many connections to PostgreSQL all replicas together may "
                                   "open, with those of a rolling release",
                                   option::kind::optional);
    examining.options.emplace_back("certificate", "FILE",
                                   "a certificate whose expiry is checked (PEM)",
                                   option::kind::repeated);
    examining.options.emplace_back("submission", "HOST:PORT",
                                   "a port for logins whose certificate is checked as clients do "
                                   "after STARTTLS, such as smtp.example.com:587",
                                   option::kind::repeated);
    examining.options.emplace_back("submissions", "HOST:PORT",
                                   "the same with TLS from the first byte, such as "
                                   "smtp.example.com:465",
                                   option::kind::repeated);
    examining.options.emplace_back("submission-ca", "FILE",
                                   "the authorities that clients of these ports trust (PEM); "
                                   "without it the system's",
                                   option::kind::optional);
    examining.options.emplace_back("mx", "HOST",
                                   "a host that takes the suite's mail, such as mx.example.com: "
                                   "the MX records of each mail domain are looked up",
                                   option::kind::repeated);
    examining.options.emplace_back("name-server", "ADDRESS",
                                   "the name server that is asked for them, such as one outside "
                                   "your network; without it the system's",
                                   option::kind::optional);
    examining.options.emplace_back(
        "timeout", "SECONDS",
        "how long Kafka, name servers and mail-ingest may take, by default 10",
        option::kind::optional);
    examining.options.push_back(json_flag());
    examining.run = examine;
    return commands;
}

} // namespace tempinbox::ctl
