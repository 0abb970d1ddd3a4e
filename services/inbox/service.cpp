#include "inbox/service.hpp"

namespace tempinbox::inbox {
namespace {

http::server_settings rpc_settings(const settings& chosen, const rpc::tls_contexts& tls)
{
    http::server_settings server;
    server.listen = chosen.rpc_listen;
    server.body_limit = 1024 * 1024;
    server.name = "rpc";
    server.tls = tls.server;
    return server;
}

} // namespace

service::service(runtime::host& host, const settings& chosen)
    : host_(host),
      admin_(host),
      traces_(host),
      core_(host, chosen),
      unreadable_account_states_(
          host.metrics().counter("tempinbox_inbox_unreadable_account_states_total",
                                 "Records of account.state that could not be read")),
      account_state_consumer_(host, core_.account_states,
                              {chosen.kafka, "tempinbox-inbox",
                               [this] { core_.maintenance.expiry.note_deleted_accounts(); },
                               [this] { unreadable_account_states_.Increment(); }}),
      inbox_rpc_(host, core_.inboxes, core_.logins, core_.maintenance.expiry, core_.publisher,
                 core_.maintenance.partitions, core_.maintenance.renewal, chosen.inbox_bounds,
                 chosen.reserved_subdomains),
      email_rpc_(host, core_.emails, core_.email_reader, core_.message_search,
                 core_.maintenance.renewal),
      search_rpc_(core_.emails, core_.message_search, core_.maintenance.renewal),
      domain_rpc_(core_.domains, core_.inboxes, core_.publisher),
      fault_rpc_(host, core_.faults, core_.attempts),
      end_notice_rpc_(core_.end_notices),
      tokens_(host.files(), "rpc-token-file", chosen.rpc_token_file),
      rpc_tls_(rpc::watch_tls(host, chosen.rpc_tls)),
      server_(host, rpc_settings(chosen, rpc_tls_), tokens_)
{
    inbox_rpc_.add_to(server_);
    email_rpc_.add_to(server_);
    search_rpc_.add_to(server_);
    domain_rpc_.add_to(server_);
    fault_rpc_.add_to(server_);
    end_notice_rpc_.add_to(server_);
}

void service::start()
{
    admin_.start();
    traces_.start();
    core_.start();
    server_.start();
    account_state_consumer_.start();
}

awaitable<void> service::drain()
{
    // RPC handlers first, since they publish; the broker last.
    const auto timeout = host_.settings().drain_timeout / 2;
    co_await server_.drain(timeout);
    co_await account_state_consumer_.stop();
    co_await core_.drain(timeout / 2);
    co_await traces_.drain(otlp::drain_timeout);
    admin_.stop();
}

} // namespace tempinbox::inbox
