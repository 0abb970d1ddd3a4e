#pragma once

#include "accounts/account_repository.hpp"
#include "accounts/idempotency_repository.hpp"
#include "accounts/key_repository.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/config/reader.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/settings.hpp"
#include "common/rpc/client.hpp"
#include "common/rpc/tls.hpp"
#include "common/runtime/host.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// Where the services are; each command needs some of them.
struct settings
{
    std::string database;
    std::chrono::milliseconds idempotency_ttl{0};
    std::vector<host_port> inbox_rpc;
    std::vector<host_port> rate_limit_rpc;
    std::vector<host_port> webhook_dispatcher_rpc;
    std::string rpc_token_file;
    rpc::tls_settings rpc_tls;
    kafka::settings kafka; // without brokers if none are given
    std::string output;
};

settings read_settings(config::reader& reader);

// The connections of one run, each made when a command first needs it. A missing setting is an
// invalid_argument failure, thrown as failure_error.
class session
{
public:
    session(runtime::host& host, settings chosen);
    ~session();
    session(const session&) = delete;

    accounts::account_repository& accounts();
    accounts::key_repository& keys();
    accounts::sign_in_repository& sign_in();
    accounts::idempotency_repository& stored_responses();
    bool has_database() const { return !settings_.database.empty(); }
    postgres::pool& db();
    rpc::tokens& tokens();
    // For clients of single replicas; the name is what a replica's certificate is for.
    rpc::client_settings calls(std::string tls_name = {});
    rpc::client& inbox();
    rpc::client& webhook_dispatcher();
    kafka::settings kafka() const;
    runtime::host& host() { return host_; }
    const settings& chosen() const { return settings_; }

    // Prints a line of a command that goes on for long, unless the output is JSON.
    void print_line(const std::string& line) const;

    // By id or email address.
    awaitable<result<accounts::account>> find_account(std::string id_or_email);

private:
    accounts::state_publisher state_publisher() const;

    runtime::host& host_;
    settings settings_;
    std::unique_ptr<postgres::pool> db_;
    std::unique_ptr<accounts::account_repository> accounts_;
    std::unique_ptr<accounts::key_repository> keys_;
    std::unique_ptr<accounts::sign_in_repository> sign_in_;
    std::unique_ptr<accounts::idempotency_repository> stored_responses_;
    std::unique_ptr<rpc::tokens> tokens_;
    std::optional<rpc::tls_contexts> rpc_tls_;
    std::unique_ptr<rpc::client> inbox_;
    std::unique_ptr<rpc::client> webhook_dispatcher_;
};

} // namespace tempinbox::ctl
