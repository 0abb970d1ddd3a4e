#include "tempinboxctl/session.hpp"

#include "common/postgres/dsn_settings.hpp"

#include <cstdio>

namespace tempinbox::ctl {
namespace {

[[noreturn]] void refuse(std::string_view setting)
{
    throw failure_error(failure{errc::invalid_argument, "--" + std::string(setting) + " or " +
                                                            config::environment_name(setting) +
                                                            " must be set for this command"});
}

} // namespace

settings read_settings(config::reader& reader)
{
    settings chosen;
    chosen.database = postgres::read_dsn_settings(
                          reader, "PostgreSQL with the schema accounts, as libpq takes it", false)
                          .dsn;
    chosen.idempotency_ttl =
        reader.duration("idempotency-ttl", accounts::idempotency_repository::standard_ttl,
                        std::chrono::seconds(1), accounts::idempotency_repository::standard_ttl,
                        "As the gateways have it: how long they store a response");
    chosen.inbox_rpc = reader.addresses(
        "inbox-rpc", "127.0.0.1:9101", "Replicas of the inbox service, host:port, comma-separated");
    chosen.rate_limit_rpc =
        reader.addresses("rate-limit-rpc", "127.0.0.1:9102",
                         "Replicas of the rate-limit service, host:port, comma-separated");
    chosen.webhook_dispatcher_rpc =
        reader.addresses("webhook-dispatcher-rpc", "127.0.0.1:9103",
                         "Replicas of the webhook dispatcher, host:port, comma-separated");
    chosen.rpc_token_file =
        reader.readable_file("rpc-token-file", "", "Shared token of the internal calls");
    chosen.rpc_tls = rpc::read_tls_settings(reader);
    chosen.kafka.brokers =
        reader.text("kafka-brokers", "", "Kafka brokers, host:port, comma-separated");
    kafka::read_client_settings(reader, chosen.kafka);
    chosen.output = reader.choice("output", "text", {"text", "json"}, "Output format");
    return chosen;
}

session::session(runtime::host& host, settings chosen) : host_(host), settings_(std::move(chosen))
{}

session::~session()
{
    if (db_)
        db_->stop();
}

postgres::pool& session::db()
{
    if (!db_) {
        if (settings_.database.empty())
            refuse("database");
        postgres::settings chosen;
        chosen.dsn = settings_.database;
        chosen.connections = 1;
        chosen.statement_timeout = std::chrono::seconds(60);
        db_ = std::make_unique<postgres::pool>(host_, std::move(chosen));
    }
    return *db_;
}

// Publishing the rows is left to the gateways, which sweep the outbox several times a second.
accounts::state_publisher session::state_publisher() const
{
    return accounts::state_publisher(host_.instance(), nullptr);
}

accounts::account_repository& session::accounts()
{
    if (!accounts_)
        accounts_ = std::make_unique<accounts::account_repository>(db(), state_publisher());
    return *accounts_;
}

accounts::key_repository& session::keys()
{
    if (!keys_)
        keys_ = std::make_unique<accounts::key_repository>(db());
    return *keys_;
}

accounts::sign_in_repository& session::sign_in()
{
    if (!sign_in_)
        sign_in_ = std::make_unique<accounts::sign_in_repository>(db());
    return *sign_in_;
}

accounts::idempotency_repository& session::stored_responses()
{
    if (!stored_responses_)
        stored_responses_ =
            std::make_unique<accounts::idempotency_repository>(db(), settings_.idempotency_ttl);
    return *stored_responses_;
}

rpc::tokens& session::tokens()
{
    if (!tokens_) {
        if (settings_.rpc_token_file.empty())
            refuse("rpc-token-file");
        tokens_ = std::make_unique<rpc::tokens>(settings_.rpc_token_file);
    }
    return *tokens_;
}

rpc::client_settings session::calls(std::string tls_name)
{
    if (!rpc_tls_)
        rpc_tls_ = rpc::watch_tls(host_, settings_.rpc_tls);
    rpc::client_settings chosen;
    chosen.tls = rpc_tls_->client;
    chosen.tls_name = std::move(tls_name);
    return chosen;
}

rpc::client& session::inbox()
{
    if (!inbox_)
        inbox_ = std::make_unique<rpc::client>(host_, settings_.inbox_rpc, tokens(), calls());
    return *inbox_;
}

rpc::client& session::webhook_dispatcher()
{
    if (!webhook_dispatcher_)
        webhook_dispatcher_ = std::make_unique<rpc::client>(host_, settings_.webhook_dispatcher_rpc,
                                                            tokens(), calls());
    return *webhook_dispatcher_;
}

kafka::settings session::kafka() const
{
    if (settings_.kafka.brokers.empty())
        refuse("kafka-brokers");
    return settings_.kafka;
}

void session::print_line(const std::string& line) const
{
    if (settings_.output == "json")
        return;
    std::puts(line.c_str());
    std::fflush(stdout);
}

awaitable<result<accounts::account>> session::find_account(std::string id_or_email)
{
    if (const auto id = uuid::parse(id_or_email))
        return accounts().find(account_id{*id});
    return accounts().find_by_email(std::move(id_or_email));
}

} // namespace tempinbox::ctl
