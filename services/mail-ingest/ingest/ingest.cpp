#include "mail-ingest/ingest/ingest.hpp"

#include "common/log/log.hpp"
#include "common/runtime/thread_cpu.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::mail_ingest {
namespace {

using smtp::message_status;
using steady = std::chrono::steady_clock;

std::string_view domain_of(std::string_view address)
{
    const auto at = address.rfind('@');
    return at == std::string_view::npos ? std::string_view("-") : address.substr(at + 1);
}

} // namespace

// A message on a reading thread.
struct ingest::reading
{
    std::unique_ptr<spool> message; // destroyed on the loop
    reading_facts facts;
    read_mail mail;
    std::chrono::nanoseconds cpu{};

    reading(std::unique_ptr<spool> given, reading_facts known)
        : message(std::move(given)),
          facts(std::move(known))
    {}
};

ingest::ingest(runtime::host& host, mail_ingest::recipients& recipients,
               mailbox::ingest_repository& store, outbox::publisher& publisher,
               unacknowledged_mail& unacknowledged, const ingest_settings& chosen)
    : host_(host),
      recipients_(recipients),
      unacknowledged_(unacknowledged),
      settings_(chosen),
      budget_(chosen.memory_bytes == 0 ? memory_budget::unbounded : chosen.memory_bytes,
              [&shown = host.metrics().gauge("tempinbox_mail_ingest_message_memory_bytes",
                                             "Memory held by messages under way")](
                  std::size_t used) { shown.Set(static_cast<double>(used)); }),
      spool_folder_(host, chosen.spool_directory, chosen.spool_bytes),
      group_committer_(host, store, publisher, unacknowledged, chosen.group_commit),
      readers_(host.executor(), chosen.readers, chosen.group_commit.max_queued_messages),
      sizes_(host.metrics().histogram("tempinbox_mail_ingest_message_bytes",
                                      "Sizes of completely received messages",
                                      metrics::size_buckets()))
{}

std::unique_ptr<spool> ingest::open_spool()
{
    return std::make_unique<spool>(budget_, settings_.memory_bytes_per_message, spool_folder_);
}

std::uint64_t ingest::available_bytes() const
{
    return std::max(std::min(settings_.memory_bytes_per_message, budget_.available()),
                    spool_folder_.available());
}

awaitable<ingest_result> ingest::take(smtp::envelope envelope, std::unique_ptr<spool> message,
                                      std::string remote_address, const sender& from)
{
    try {
        co_return co_await take_or_throw(std::move(envelope), std::move(message),
                                         std::move(remote_address), from);
    } catch (const std::exception& error) {
        // One of the four places: the SMTP session answers 451 to this status.
        log::error("message cannot be accepted", {{"error", error.what()}});
        co_return ingest_result(message_status::unavailable);
    }
}

awaitable<ingest_result> ingest::take_or_throw(smtp::envelope envelope,
                                               std::unique_ptr<spool> message,
                                               std::string remote_address, const sender& from)
{
    const auto deadline = steady::now() + settings_.group_commit.timeout;
    const auto size = message->size();
    const auto cause = envelope.trace;
    sizes_.Observe(static_cast<double>(size));
    // Refuse what can be refused without reading it.
    leave_out_deleted_accounts(envelope);
    if (envelope.recipients.empty())
        co_return ingest_result(message_status::gone);
    if (is_too_large(envelope, size))
        co_return ingest_result(message_status::too_large);
    if (group_committer_.are_full() || !readers_.has_room(remote_address))
        co_return ingest_result(message_status::overloaded);
    const bool is_whole = co_await message->finish();
    if (!is_whole)
        co_return ingest_result(message_status::overloaded);
    if (!co_await unacknowledged_.is_ready())
        co_return ingest_result(message_status::unavailable);

    reading_facts facts;
    facts.envelope = std::move(envelope);
    facts.remote_address = std::move(remote_address);
    facts.hostname = settings_.hostname;
    facts.received_at = host_.clock().now();
    facts.max_hops = settings_.max_hops;
    facts.view = settings_.view;
    const auto mail = co_await read_in_turn(std::move(message), std::move(facts), deadline);
    if (!mail)
        co_return ingest_result(message_status::unavailable);
    if (mail->is_looping)
        co_return ingest_result(message_status::looping);

    // Reserves memory for what the rows need while they wait for the commit.
    memory_budget::reservation reservation(budget_);
    if (!reservation.grow(mail->message->held_bytes()))
        co_return ingest_result(message_status::overloaded);
    // Dedup: wait for earlier copies whose sender may not have seen the 250.
    std::shared_ptr<in_flight_message> in_flight;
    if (mail->message->message_id) {
        in_flight = unacknowledged_.in_flight().begin(mail->message->sha256, from);
        if (unacknowledged_.in_flight().has_earlier(*in_flight)) {
            if (!co_await unacknowledged_.in_flight().wait_for_earlier(*in_flight, deadline))
                co_return ingest_result(message_status::unavailable);
        }
    }
    const auto stored = co_await group_committer_.store(mail->message, in_flight, deadline, cause);
    const trace::scope here(cause);
    co_return result_of(*mail, stored, std::move(in_flight));
}

// Nothing is stored for an account that was deleted since RCPT, even if its inboxes have not ended
// yet; the other recipients get their mail.
void ingest::leave_out_deleted_accounts(smtp::envelope& envelope)
{
    std::erase_if(envelope.recipients, [&](const smtp::recipient& one) {
        if (recipients_.max_message_bytes(one.account, one.max_message_bytes) > 0)
            return false;
        group_committer_.note_left_out(one.inbox, "account was deleted before the commit");
        return true;
    });
}

// The limits known at the end of the message decide.
bool ingest::is_too_large(const smtp::envelope& envelope, std::uint64_t size)
{
    return std::any_of(
        envelope.recipients.begin(), envelope.recipients.end(), [&](const smtp::recipient& one) {
            return size > recipients_.max_message_bytes(one.account, one.max_message_bytes);
        });
}

// Absent: not read by the deadline.
awaitable<std::optional<read_mail>> ingest::read_in_turn(std::unique_ptr<spool> message,
                                                         reading_facts facts,
                                                         steady::time_point deadline)
{
    const auto mine = std::make_shared<reading>(std::move(message), std::move(facts));
    const auto& client = mine->facts.remote_address;
    const auto bytes = mine->message->size();
    auto job = [mine] {
        const auto before = runtime::thread_cpu();
        mine->mail = read(mine->message->bytes(), mine->facts);
        mine->cpu = runtime::thread_cpu() - before;
    };
    if (readers_.may_read_on_loop(client, bytes, steady::now())) {
        job();
    } else if (!co_await readers_.run(client, std::move(job), deadline)) {
        log::warning("message not parsed in time", {{"size_bytes", bytes}});
        co_return std::nullopt;
    }
    readers_.note(client, bytes, mine->cpu, steady::now());
    co_return std::move(mine->mail);
}

ingest_result ingest::result_of(const read_mail& mail, const mailbox::stored_message& stored,
                                std::shared_ptr<in_flight_message> in_flight)
{
    using mailbox::delivery_status;
    if (!stored)
        return ingest_result(message_status::unavailable);
    const auto& message = *mail.message;
    ingest_result taken(message_status::gone);
    auto& status = taken.result.status;
    for (std::size_t i = 0; i < stored->size(); ++i) {
        const auto& delivery = message.deliveries[i];
        const auto& [stored_status, sequence, email] = (*stored)[i];
        if (stored_status == delivery_status::stored ||
            stored_status == delivery_status::repeated) {
            log::audit(stored_status == delivery_status::stored ? "email stored"
                                                                : "email deduplicated",
                       {{"email_id", email.text()},
                        {"inbox_id", delivery.inbox.text()},
                        {"sequence", sequence},
                        {"size_bytes", message.size},
                        {"from_domain", domain_of(message.mail_from)},
                        {"remote_ip", message.remote_address},
                        {"tls", message.tls.value_or("")}});
            if (status != message_status::stored)
                taken.result.id = email.text();
            status = message_status::stored;
            taken.emails.emplace_back(delivery.inbox, email);
            if (in_flight)
                in_flight->emails.push_back(mailbox::email_key{delivery.account, email});
            continue;
        }
        if (stored_status == delivery_status::unstorable) {
            status = message_status::unstorable;
            continue;
        }
        // With a login the recipients may be anybody's.
        if (!message.login)
            recipients_.evict(delivery.rcpt_to.front());
        if (stored_status == delivery_status::full && status == message_status::gone)
            status = message_status::full;
        if (stored_status == delivery_status::full_for_now &&
            (status == message_status::gone || status == message_status::full))
            status = message_status::full_for_now;
    }
    if (status == message_status::stored)
        taken.in_flight = std::move(in_flight);
    return taken;
}

void ingest::stop()
{
    readers_.stop();
    spool_folder_.stop();
}

} // namespace tempinbox::mail_ingest
