#include "inbox/service.hpp"

#include "common/rpc/inbox_methods.hpp"

namespace tempinbox::inbox {
namespace {

http::server_settings rpc_settings(const settings& chosen)
{
    http::server_settings server;
    server.listen = chosen.rpc_listen;
    server.body_limit = 1024 * 1024;
    server.name = "rpc";
    return server;
}

} // namespace

service::service(runtime::host& host, const settings& chosen)
    : host_(host),
      admin_(host),
      db_(host, chosen.database),
      clock_watch_(host, db_, host.clock()),
      producer_(host, chosen.kafka),
      publisher_(host, db_, producer_, mailbox::schema),
      account_states_(db_),
      domains_(db_),
      inboxes_(db_, host.instance()),
      emails_(db_),
      email_search_(db_),
      expiry_repository_(db_, host.instance(), chosen.quarantine),
      maintenance_(db_),
      unreadable_account_states_(
          host.metrics().counter("tempinbox_inbox_unreadable_account_states_total",
                                 "Records of account.state that could not be read.")),
      account_state_consumer_(host, account_states_,
                              {chosen.kafka, "tempinbox-inbox",
                               [this] { expiry_.note_deleted_accounts(); },
                               [this] { unreadable_account_states_.Increment(); }}),
      partition_maintenance_(host, maintenance_),
      expiry_(host, expiry_repository_, publisher_),
      purge_(host, maintenance_, chosen.purge_interval, chosen.quarantine),
      mail_reader_(chosen.mail_readers, chosen.view, chosen.reading_bytes),
      inbox_rpc_(host, inboxes_, expiry_, publisher_, partition_maintenance_, chosen.inbox_bounds),
      email_rpc_(emails_, mail_reader_),
      search_rpc_(email_search_),
      domain_rpc_(domains_, inboxes_, publisher_),
      email_count_rpc_(
          [this](account_id account, int days) { return emails_.count_by_day(account, days); },
          &v1::EmailsOfDay::set_emails),
      tokens_(chosen.rpc_token_file),
      server_(host, rpc_settings(chosen), tokens_)
{
    db_.require_schema(mailbox::schema, mailbox::schema_version);
    inbox_rpc_.add_to(server_);
    email_rpc_.add_to(server_);
    search_rpc_.add_to(server_);
    domain_rpc_.add_to(server_);
    email_count_rpc_.add_to(server_, inbox_methods::count_emails);
}

void service::start()
{
    admin_.start();
    clock_watch_.start();
    server_.start();
    publisher_.start();
    account_state_consumer_.start();
    partition_maintenance_.start();
    expiry_.start();
    purge_.start();
}

awaitable<void> service::drain()
{
    // RPC handlers first, since they publish; the broker last.
    const auto timeout = host_.settings().drain_timeout / 2;
    co_await server_.drain(timeout);
    co_await account_state_consumer_.stop();
    co_await expiry_.stop();
    co_await purge_.stop();
    co_await partition_maintenance_.stop();
    co_await clock_watch_.stop();
    co_await publisher_.drain(timeout / 2);
    co_await producer_.flush(timeout / 4);
    db_.stop();
    admin_.stop();
}

} // namespace tempinbox::inbox
