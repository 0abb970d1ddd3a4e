#include "inbox/core.hpp"

#include "mailbox/inbox_state_rows.hpp"

namespace tempinbox::inbox {

core::core(runtime::host& host, const settings& chosen)
    : db(host, chosen.database),
      clock_watch(host, db, host.clock()),
      producer(host, chosen.kafka),
      publisher(host, db, producer, mailbox::schema,
                mailbox::remover_of_published(host.instance())),
      account_states(db),
      domains(db),
      inboxes(db, host.instance()),
      emails(db),
      logins(db),
      faults(db),
      attempts(db),
      end_notices(db),
      maintenance(host, db, publisher, chosen),
      message_parser(host, chosen.mail_readers, chosen.view, chosen.reading_bytes),
      email_reader(host, emails, message_parser, chosen.view_cache_bytes),
      message_search(host, emails, message_parser,
                     {chosen.text_cache_bytes, chosen.search_bytes, chosen.search_time})
{
    db.require_schema(mailbox::schema, mailbox::schema_version);
}

void core::start()
{
    clock_watch.start();
    publisher.start();
    maintenance.start();
}

awaitable<void> core::drain(std::chrono::milliseconds timeout)
{
    co_await maintenance.stop();
    co_await clock_watch.stop();
    co_await publisher.drain(timeout);
    co_await producer.flush(timeout / 2);
    db.stop();
}

} // namespace tempinbox::inbox
