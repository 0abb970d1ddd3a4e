#include "inbox/service.hpp"

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
      account_store_(db_),
      domain_store_(db_),
      inbox_store_(db_, host.instance()),
      inbox_change_store_(db_),
      email_store_(db_),
      list_version_store_(db_),
      mail_removal_store_(db_),
      email_search_store_(db_),
      expiry_store_(db_, host.instance(), chosen.quarantine),
      purge_store_(db_),
      partition_store_(db_),
      account_updates_(host, chosen.kafka, account_store_,
                       [this] { expiry_.note_deleted_accounts(); }),
      partition_upkeep_(host, partition_store_),
      expiry_(host, expiry_store_, publisher_),
      purge_(host, purge_store_, chosen.purge_interval, chosen.quarantine),
      mail_reader_(chosen.mail_readers, chosen.view, chosen.reading_bytes),
      inbox_calls_(host, inbox_store_, inbox_change_store_, expiry_, publisher_, partition_upkeep_,
                   chosen.inbox_bounds),
      email_calls_(email_store_, list_version_store_, mail_removal_store_, mail_reader_),
      search_calls_(email_search_store_),
      domain_calls_(domain_store_, inbox_store_, publisher_),
      email_counts_(db_),
      email_count_call_(
          [this](account_id account, int days) { return email_counts_.list(account, days); },
          &v1::EmailsOfDay::set_emails),
      tokens_(chosen.rpc_token_file),
      server_(host, rpc_settings(chosen), tokens_)
{
    db_.require_schema(mailbox::schema, mailbox::schema_version);
    inbox_calls_.add_to(server_);
    email_calls_.add_to(server_);
    search_calls_.add_to(server_);
    domain_calls_.add_to(server_);
    email_count_call_.add_to(server_, "tempinbox.inbox.v1.InboxService/CountEmails");
}

void service::start()
{
    admin_.start();
    clock_watch_.start();
    server_.start();
    publisher_.start();
    account_updates_.start();
    partition_upkeep_.start();
    expiry_.start();
    purge_.start();
}

awaitable<void> service::drain()
{
    // Calls first, since they publish; the broker last.
    const auto patience = host_.settings().drain_timeout / 2;
    co_await server_.drain(patience);
    co_await account_updates_.stop();
    co_await expiry_.stop();
    co_await purge_.stop();
    co_await partition_upkeep_.stop();
    co_await clock_watch_.stop();
    co_await publisher_.drain(patience / 2);
    co_await producer_.flush(patience / 4);
    db_.stop();
    admin_.stop();
}

} // namespace tempinbox::inbox
