#include "mail-ingest/intake/intake.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>

namespace tempinbox::mail_ingest {
namespace {

using smtp::message_status;
using steady = std::chrono::steady_clock;

// A message so small is read in less time than handing it to a worker and back takes.
constexpr std::uint64_t quickly_read = 8 * 1024;

std::string_view domain_of(std::string_view address)
{
    const auto at = address.rfind('@');
    return at == std::string_view::npos ? std::string_view("-") : address.substr(at + 1);
}

} // namespace

// On its way through a reading thread, which owns all of it but `done` and `is_abandoned`.
struct intake::reading
{
    std::unique_ptr<spool> message; // ends on the loop
    reading_facts facts;
    read_mail mail;
    std::exception_ptr error;
    runtime::wait_point done;
    std::atomic<bool> is_abandoned{false};

    reading(std::unique_ptr<spool> given, reading_facts known, runtime::wait_point end)
        : message(std::move(given)),
          facts(std::move(known)),
          done(std::move(end))
    {}
};

intake::intake(runtime::host& host, mail_ingest::directory& directory, mailbox::mail_store& store,
               outbox::publisher& publisher, unconfirmed_mail& unconfirmed,
               const intake_settings& chosen)
    : host_(host),
      directory_(directory),
      unconfirmed_(unconfirmed),
      settings_(chosen),
      budget_(chosen.memory_bytes,
              &host.metrics().gauge("tempinbox_mail_ingest_message_memory_bytes",
                                    "Memory held by messages under way.")),
      spool_folder_(host, chosen.spool_directory, chosen.spool_bytes),
      writers_(host, store, publisher, unconfirmed, chosen.writing),
      read_done_(host.loop()),
      readers_(chosen.readers),
      sizes_(host.metrics().histogram("tempinbox_mail_ingest_message_bytes",
                                      "Sizes of messages that came to their end.",
                                      metrics::size_buckets()))
{}

std::unique_ptr<spool> intake::open_spool()
{
    return std::make_unique<spool>(budget_, settings_.memory_bytes_a_message, spool_folder_);
}

std::uint64_t intake::room() const
{
    return std::max(std::min(settings_.memory_bytes_a_message, budget_.left()),
                    spool_folder_.left());
}

awaitable<taken_message> intake::take(smtp::envelope envelope, std::unique_ptr<spool> message,
                                      std::string remote_address, const sender& from)
{
    try {
        co_return co_await take_or_throw(std::move(envelope), std::move(message),
                                         std::move(remote_address), from);
    } catch (const std::exception& error) {
        log::error("message cannot be taken", {{"error", error.what()}});
        co_return taken_message(message_status::unavailable);
    }
}

awaitable<taken_message> intake::take_or_throw(smtp::envelope envelope,
                                               std::unique_ptr<spool> message,
                                               std::string remote_address, const sender& from)
{
    const auto deadline = steady::now() + settings_.writing.patience;
    const auto size = message->size();
    sizes_.Observe(static_cast<double>(size));
    leave_out_deleted_accounts(envelope);
    if (envelope.recipients.empty())
        co_return taken_message(message_status::gone);
    if (is_too_large(envelope, size))
        co_return taken_message(message_status::too_large);
    if (writers_.are_full())
        co_return taken_message(message_status::overloaded);
    const bool is_whole = co_await message->finish();
    if (!is_whole)
        co_return taken_message(message_status::overloaded);
    if (!co_await unconfirmed_.is_ready())
        co_return taken_message(message_status::unavailable);

    reading_facts facts;
    facts.envelope = std::move(envelope);
    facts.remote_address = std::move(remote_address);
    facts.hostname = settings_.hostname;
    facts.received_at = host_.clock().now();
    facts.most_hops = settings_.most_hops;
    facts.view = settings_.view;
    read_mail mail;
    if (size <= quickly_read) {
        mail = read(message->bytes(), facts);
        message.reset();
    } else {
        auto found = co_await read_on_worker(std::move(message), std::move(facts), deadline);
        if (!found)
            co_return taken_message(message_status::unavailable);
        mail = std::move(*found);
    }
    if (mail.is_looping)
        co_return taken_message(message_status::looping);

    // What its rows need waits in memory.
    memory_share share(budget_);
    if (!share.grow(mail.message->held_bytes()))
        co_return taken_message(message_status::overloaded);
    std::shared_ptr<undecided_mail> undecided;
    if (mail.message->message_id) {
        undecided = unconfirmed_.undecided().begin(mail.message->sha256, from);
        if (unconfirmed_.undecided().has_earlier(*undecided)) {
            if (!co_await unconfirmed_.undecided().wait_for_earlier(*undecided, deadline))
                co_return taken_message(message_status::unavailable);
        }
    }
    const auto stored = co_await writers_.store(mail.message, undecided, deadline);
    co_return answer_of(mail, stored, std::move(undecided));
}

// Nothing is kept for an account that was deleted since RCPT, also where its inboxes have not ended
// yet; the others get their mail.
void intake::leave_out_deleted_accounts(smtp::envelope& envelope)
{
    std::erase_if(envelope.recipients, [&](const smtp::recipient& one) {
        if (directory_.largest_message(one.account, one.largest_message) > 0)
            return false;
        writers_.note_left_out(one.inbox, "account was deleted before the commit");
        return true;
    });
}

// Mail is handled by the limits known at its end.
bool intake::is_too_large(const smtp::envelope& envelope, std::uint64_t size)
{
    return std::any_of(
        envelope.recipients.begin(), envelope.recipients.end(), [&](const smtp::recipient& one) {
            return size > directory_.largest_message(one.account, one.largest_message);
        });
}

// Nothing: not read in time.
awaitable<std::optional<read_mail>> intake::read_on_worker(std::unique_ptr<spool> message,
                                                           reading_facts facts,
                                                           steady::time_point deadline)
{
    const auto patience =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady::now());
    auto mine = std::make_shared<reading>(std::move(message), std::move(facts),
                                          runtime::wait_point(host_.executor(), patience));
    boost::asio::post(readers_, [this, job = mine]() mutable {
        try {
            if (!job->is_abandoned)
                job->mail = read(job->message->bytes(), job->facts);
        } catch (...) {
            job->error = std::current_exception();
        }
        read_done_.push([done = std::move(job)] { done->done.reach(); });
    });
    if (!co_await mine->done.wait()) {
        mine->is_abandoned = true;
        log::warning("message not read in time", {{"size_bytes", mine->message->size()}});
        co_return std::nullopt;
    }
    if (mine->error)
        std::rethrow_exception(mine->error);
    co_return std::move(mine->mail);
}

taken_message intake::answer_of(const read_mail& mail, const mailbox::stored_message& stored,
                                std::shared_ptr<undecided_mail> undecided)
{
    using mailbox::delivery_outcome;
    if (!stored)
        return taken_message(message_status::unavailable);
    const auto& message = *mail.message;
    taken_message taken(message_status::gone);
    auto& status = taken.answer.status;
    for (std::size_t i = 0; i < stored->size(); ++i) {
        const auto& delivery = message.deliveries[i];
        const auto& [outcome, sequence, email] = (*stored)[i];
        if (outcome == delivery_outcome::stored || outcome == delivery_outcome::repeated) {
            log::info(outcome == delivery_outcome::stored ? "email stored" : "email repeated",
                      {{"email_id", email.text()},
                       {"inbox_id", delivery.inbox.text()},
                       {"sequence", sequence},
                       {"size_bytes", message.size},
                       {"from_domain", domain_of(message.mail_from)},
                       {"remote_ip", message.remote_address},
                       {"tls", message.tls.value_or("")}});
            if (status != message_status::stored)
                taken.answer.id = email.text();
            status = message_status::stored;
            if (undecided)
                undecided->emails.push_back(mailbox::email_key{delivery.account, email});
            continue;
        }
        if (outcome == delivery_outcome::unstorable) {
            status = message_status::unstorable;
            continue;
        }
        directory_.forget(delivery.rcpt_to.front());
        if (outcome == delivery_outcome::full && status == message_status::gone)
            status = message_status::full;
    }
    if (status == message_status::stored)
        taken.undecided = std::move(undecided);
    return taken;
}

void intake::stop()
{
    readers_.join();
    spool_folder_.stop();
}

} // namespace tempinbox::mail_ingest
