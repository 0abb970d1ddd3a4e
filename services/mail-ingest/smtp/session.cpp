#include "mail-ingest/smtp/session.hpp"

#include "common/log/log.hpp"
#include "common/trace/current.hpp"
#include "mail-ingest/smtp/rejection_reasons.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>
#include <set>

namespace tempinbox::smtp {
namespace {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds write_timeout{60};
constexpr std::chrono::seconds handshake_timeout{30};
constexpr std::chrono::seconds linger_timeout{2};

using mailbox::rejection_reason;

session_machine::client client_of(port_kind port, bool is_exempt, bool has_certificate)
{
    session_machine::client who;
    who.is_exempt = is_exempt;
    who.can_start_tls =
        has_certificate && (port == port_kind::mail || port == port_kind::submission);
    if (port == port_kind::submission || port == port_kind::submissions)
        who.logins = login_policy::after_tls;
    else if (port == port_kind::submission_clear)
        who.logins = login_policy::at_once;
    return who;
}

std::string_view to_text(recipient_status status)
{
    constexpr std::string_view names[] = {"live", "unknown", "quarantined", "foreign",
                                          "full", "full",    "over_rate",   "unavailable"};
    return names[static_cast<std::size_t>(status)];
}

} // namespace

session::session(session_context& context, port_kind port, tcp::socket socket, client_address peer)
    : context_(context),
      port_(port),
      peer_(std::move(peer)),
      peer_text_(peer_.address.to_string()),
      connection_(std::move(socket)),
      machine_(
          context.limits,
          client_of(port, context.client_limiter.is_exempt(peer_), context.starttls != nullptr),
          steady::now()),
      sender_{[this] { return connection_.has_hung_up(); }},
      delay_timer_(context.host.executor())
{
    context_.metrics.session_began();
}

session::~session()
{
    if (machine_.login())
        context_.logins->leave(machine_.login()->user);
    context_.client_limiter.leave(peer_);
    context_.metrics.session_ended();
}

awaitable<void> session::run()
{
    try {
        co_await converse();
    } catch (const std::exception& error) {
        log::error("SMTP session failed", {{"error", error.what()}, {"remote_ip", peer_text_}});
    }
    if (spool_ || has_lost_spool_) {
        context_.metrics.aborted();
        transaction_span_.fail("aborted");
        transaction_span_.end();
    }
    transaction_span_.discard();
    note_session_end();
    for (auto& one : std::exchange(unacknowledged_, {})) {
        if (!machine_.is_acknowledged())
            context_.ingest.note_unacknowledged(std::move(one));
    }
    give_back_admissions();
    connection_.close();
}

awaitable<void> session::converse()
{
    if (port_ == port_kind::submissions && !co_await shake_hands())
        co_return;
    // What came behind the handshake has passed it.
    if (port_ != port_kind::submissions && connection_.has_input()) {
        const auto early = co_await connection_.read();
        machine_.receive(early.bytes, steady::now());
        machine_.greet();
    } else {
        machine_.greet();
    }
    for (;;) {
        // Before each step the machine learns the state of the process.
        machine_.set_overloaded(context_.ingest.is_overloaded());
        machine_.set_available_bytes(context_.ingest.available_bytes());
        machine_.set_unavailable(context_.clock.is_off());
        machine_.set_busy(context_.client_limiter.is_busy());
        machine_.set_over_rate(context_.client_limiter.is_over_rate(peer_, steady::now()));
        const auto next_action = machine_.next();
        if (machine_.needs_login())
            connection_.wipe_input();
        if (machine_.take_login_in_clear())
            log::audit("login in the clear", {{"remote_ip", peer_text_}});
        // A pipelining client can have several messages whose 250 it has not read yet.
        if (machine_.is_acknowledged())
            unacknowledged_.clear();
        note_ending();
        note_ended_transaction();
        bool goes_on = true;
        switch (next_action.what) {
        case action::kind::read:
            goes_on = co_await send_output();
            if (goes_on) {
                co_await write_spool();
                goes_on = co_await receive();
            }
            break;
        case action::kind::look_up:
            co_await look_up();
            break;
        case action::kind::log_in:
            co_await log_in();
            break;
        case action::kind::admit:
            co_await admit();
            break;
        case action::kind::meet_fault:
            co_await meet_fault();
            break;
        case action::kind::begin:
            spool_ = context_.ingest.open_spool();
            has_lost_spool_ = false;
            begin_to_scan();
            break;
        case action::kind::append:
            append(next_action.bytes);
            break;
        case action::kind::drop:
            spool_.reset();
            has_lost_spool_ = false;
            break;
        case action::kind::finish:
            co_await store();
            break;
        case action::kind::start_tls:
            goes_on = co_await shake_hands();
            break;
        case action::kind::delay:
            goes_on = co_await send_output();
            if (goes_on)
                co_await delay(next_action.wait);
            break;
        case action::kind::close:
            goes_on = co_await send_output();
            if (goes_on)
                co_await linger();
            co_return;
        }
        if (!goes_on)
            co_return;
    }
}

// False if the connection is gone.
awaitable<bool> session::receive()
{
    is_reading_ = true;
    const auto got = co_await connection_.read();
    is_reading_ = false;
    const bool has_expired = std::exchange(has_expired_, false);
    if (!got.bytes.empty())
        machine_.receive(got.bytes, steady::now());
    else if (has_expired)
        machine_.expire(steady::now());
    else if (got.error && got.error != asio::error::operation_aborted)
        co_return false;
    co_return true;
}

awaitable<bool> session::send_output()
{
    if (machine_.output().empty())
        co_return true;
    connection_deadline_ = steady::now() + write_timeout;
    const auto error = co_await connection_.write(machine_.output());
    connection_deadline_.reset();
    machine_.clear_output();
    co_return !error;
}

awaitable<bool> session::shake_hands()
{
    if (!co_await send_output())
        co_return false;
    connection_deadline_ = steady::now() + handshake_timeout;
    const auto error = co_await connection_.shake_hands(context_.starttls());
    connection_deadline_.reset();
    if (error) {
        log::debug("TLS handshake failed", {{"error", error.message()}, {"remote_ip", peer_text_}});
        co_return false;
    }
    machine_.tls_started(connection_.protocol(), steady::now());
    co_return true;
}

awaitable<void> session::look_up()
{
    // This is the first recipient that can be accepted. Earlier attempts, before RSET or refused,
    // began no transaction.
    begin_to_meet_faults();
    if (machine_.login()) {
        auto own = result_of_login();
        own.is_watched = true;
        own.fault = co_await fault_at_rcpt(own);
        co_return on_recipient_result(std::move(own), false);
    }
    if (machine_.transaction().recipients.empty())
        begin_transaction();
    auto result = context_.recipients.find_cached(machine_.pending_recipient());
    if (!result) {
        auto recipient = machine_.pending_recipient();
        result = co_await context_.recipients.find(std::move(recipient));
    }
    const bool is_new = admit_recipient(*result);
    if (result->status == recipient_status::live && result->fault_stages.has(faults::stage::rcpt))
        result->fault = co_await fault_at_rcpt(*result);
    result->is_watched = is_watched(*result);
    on_recipient_result(std::move(*result), is_new);
}

// Whoever the recipient is, the mail is for the login's inbox.
recipient_result session::result_of_login() const
{
    const auto& who = *machine_.login();
    recipient_result own(recipient_status::live);
    own.account = who.account;
    own.inbox = who.inbox;
    own.max_message_bytes = who.max_message_bytes;
    own.fault_stages = who.fault_stages;
    return own;
}

awaitable<void> session::log_in()
{
    auto result = co_await context_.logins->log_in(peer_.address, machine_.take_credentials());
    const auto refused = result.status == login_status::bad ? result.login : std::nullopt;
    if (result.status == login_status::good)
        result.fault = co_await fault_at(faults::stage::auth, *result.login, {});
    context_.logins->count(result);
    if (result.fault && result.fault->refuses()) {
        context_.logins->leave(result.login->user);
        note_refused_login(faults::stage::auth, *result.login, {}, result.fault->reply,
                           faults_met_);
    }
    machine_.on_login_result(std::move(result), steady::now());
    if (refused)
        context_.rejections.note(refused->account, refused->inbox, rejection_reason::bad_login, "",
                                 machine_.last_reply());
}

awaitable<void> session::admit()
{
    auto result = co_await context_.logins->admit(*machine_.login());
    if (result.status == admission_status::admitted) {
        begin_transaction();
        result.fault_stages = context_.faults.stages_of(machine_.login()->inbox);
        result.fault =
            co_await fault_at(faults::stage::mail, *machine_.login(), machine_.pending_mail_from());
    }
    // It goes into the transaction that begins.
    const auto mail_from = machine_.pending_mail_from();
    machine_.on_admission_result(result);
    if (result.fault && result.fault->refuses())
        note_refused_login(faults::stage::mail, *machine_.login(), mail_from, result.fault->reply,
                           faults_met_);
    else if (result.status != admission_status::admitted)
        note_refused_login(faults::stage::mail, *machine_.login(), mail_from, machine_.last_reply(),
                           {});
}

void session::begin_transaction()
{
    transaction_start_ = steady::now();
    give_back_admissions();
    transaction_span_.discard();
    transaction_span_ = context_.host.tracer().begin("smtp transaction", trace::span_kind::server);
    transaction_span_.set("network.protocol.name", "smtp");
    transaction_span_.set("client.address", peer_text_);
}

// Whether the transaction gets an inbox that it did not have: its message counts in that one's
// rate.
bool session::admit_recipient(recipient_result& result)
{
    if (result.status != recipient_status::live)
        return false;
    result.fault_stages = context_.faults.stages_of(result.inbox);
    const bool is_new = !machine_.transaction().goes_to(result.inbox);
    if (is_new && !context_.recipients.admits(result.inbox))
        result.status = recipient_status::over_rate;
    return is_new;
}

// Of a transaction that begins there are no faults yet.
void session::begin_to_meet_faults()
{
    if (machine_.transaction_number() == transaction_number_)
        return;
    transaction_number_ = machine_.transaction_number();
    faults_met_ = {};
}

// What the login's inbox plays at AUTH, or at a MAIL, which the next transaction begins with.
awaitable<std::optional<fault>> session::fault_at(faults::stage at, smtp::login who,
                                                  std::string mail_from)
{
    faults_met_ = {};
    transaction_number_ = machine_.transaction_number() + 1;
    if (!context_.faults.stages_of(who.inbox).has(at))
        co_return std::nullopt;
    mailbox::fault_claim claim;
    claim.at = at;
    claim.parts.push_back({who.account, who.inbox, {}, {}});
    auto played = co_await play_fault(std::move(claim));
    if (played && played->refuses())
        note_fault(who.account, who.inbox, mail_from, *played);
    co_return played;
}

awaitable<std::optional<fault>> session::fault_at_rcpt(recipient_result result)
{
    mailbox::fault_claim claim;
    claim.at = faults::stage::rcpt;
    claim.parts.push_back({result.account, result.inbox, {machine_.pending_recipient().text}, {}});
    auto played = co_await play_fault(std::move(claim));
    if (played && played->refuses())
        note_fault(result.account, result.inbox, machine_.transaction().mail_from, *played);
    co_return played;
}

// What the inboxes of the transaction play together.
awaitable<std::optional<fault>> session::fault_of_message(faults::stage at)
{
    std::map<inbox_id, mailbox::fault_claim::part> parts;
    for (const auto& one : machine_.transaction().recipients) {
        auto& part = parts[one.inbox];
        part.account = one.account;
        part.inbox = one.inbox;
        part.recipients.push_back(one.as_given);
    }
    mailbox::fault_claim claim;
    claim.at = at;
    for (auto& [inbox, part] : parts)
        claim.parts.push_back(std::move(part));
    co_return co_await play_fault(std::move(claim));
}

awaitable<std::optional<fault>> session::play_fault(mailbox::fault_claim claim)
{
    claim.has_login = machine_.login().has_value();
    auto played = co_await context_.faults.play(std::move(claim), faults_met_);
    if (!played)
        co_return std::nullopt;
    delay_slot_ = std::move(played->slot);
    co_return std::move(played->fault);
}

void session::note_fault(account_id account, inbox_id inbox, std::string_view mail_from,
                         const fault& played)
{
    context_.rejections.note(account, inbox, rejection_reason::fault, mail_from,
                             played.reply.empty() ? no_reply : std::string_view(played.reply));
}

awaitable<void> session::meet_fault()
{
    machine_.on_fault_result(co_await fault_of_message(faults::stage::data));
}

void session::on_recipient_result(recipient_result result, bool is_new)
{
    const auto now = steady::now();
    const bool is_refused = result.fault && result.fault->refuses();
    if (result.status == recipient_status::unknown)
        context_.client_limiter.note_unknown_recipient(peer_, now);
    result.is_slowed = context_.client_limiter.is_slowed(peer_, now);
    context_.metrics.recipient(is_refused ? "fault" : to_text(result.status));
    machine_.on_recipient_result(result);
    if (!is_refused)
        note_rejected_recipient(result);
    if (result.is_watched)
        note_recipient_attempt(result);
    if (is_new && result.status == recipient_status::live) {
        if (machine_.transaction().goes_to(result.inbox))
            admitted_.push_back(result.inbox);
        else
            context_.recipients.give_back(result.inbox);
    }
}

void session::note_rejected_recipient(const recipient_result& result)
{
    const auto reason = reason_of(result.status, machine_.last_reply());
    if (reason)
        context_.rejections.note(result.account, result.inbox, *reason,
                                 machine_.transaction().mail_from, machine_.last_reply());
}

// Once for each inbox, however many of its addresses the message was for.
void session::note_rejected_message(const ending& ended)
{
    const auto reason = reason_of(ended.result);
    if (!reason || ended.is_stored)
        return;
    const auto reply = ended.reply.empty() ? no_reply : std::string_view(ended.reply);
    std::set<inbox_id> inboxes;
    for (const auto& one : ended.envelope.recipients) {
        if (inboxes.insert(one.inbox).second)
            context_.rejections.note(one.account, one.inbox, *reason, ended.envelope.mail_from,
                                     reply);
    }
}

// A message that was not stored does not count against the inboxes' rates.
void session::give_back_admissions()
{
    for (const auto inbox : std::exchange(admitted_, {}))
        context_.recipients.give_back(inbox);
}

void session::append(std::string_view bytes)
{
    if (attempts_)
        attempts_->append(bytes);
    if (spool_ && !spool_->append(bytes))
        lose_message();
}

// Backpressure: called before more is read, so that memory does not fill up for a slow disk.
awaitable<void> session::write_spool()
{
    if (!spool_)
        co_return;
    const bool is_written = co_await spool_->write();
    if (!is_written)
        lose_message();
}

void session::lose_message()
{
    log::warning("no space for a message, neither in memory nor in the spool",
                 {{"remote_ip", peer_text_}});
    spool_.reset();
    has_lost_spool_ = true;
    machine_.lose_message();
}

awaitable<void> session::store()
{
    auto message = std::move(spool_);
    mail_ingest::ingest_result taken(message_status::overloaded);
    // Emails are found by their time, so nothing is stored while the clock is off.
    const bool is_in_time = co_await context_.clock.is_compared();
    if (!is_in_time || context_.clock.is_off()) {
        taken.result.status = message_status::unavailable;
    } else if (message) {
        std::optional<fault> played;
        if (machine_.transaction().may_meet_fault(faults::stage::end))
            played = co_await fault_of_message(faults::stage::end);
        if (played && played->refuses()) {
            taken.result.status = message_status::fault;
            taken.result.fault = std::move(played);
            co_return machine_.on_message_result(taken.result, steady::now());
        }
        auto envelope = machine_.transaction();
        envelope.trace = transaction_span_.context();
        transaction_span_.set("smtp.message.size", message->size());
        transaction_span_.set("smtp.recipients.count", envelope.recipients.size());
        if (envelope.tls)
            transaction_span_.set("tls.protocol.version", *envelope.tls);
        taken = co_await context_.ingest.take(std::move(envelope), std::move(message), peer_text_,
                                              sender_);
        const bool is_stored = taken.result.status == message_status::stored;
        context_.faults.note_message(is_stored, faults_met_);
        if (is_stored)
            taken.result.fault = std::move(played);
        else
            delay_slot_.reset(); // its reply does not wait
    }
    const auto now = steady::now();
    if (taken.result.status == message_status::stored) {
        context_.client_limiter.note_accepted_mail(peer_, now);
        context_.client_limiter.note_message(peer_, now);
        admitted_.clear();
    }
    stored_emails_ = std::move(taken.emails);
    if (taken.in_flight)
        unacknowledged_.push_back(std::move(taken.in_flight));
    had_ended_ = connection_.has_ended();
    machine_.on_message_result(taken.result, now);
}

// The end of the process ends it early, and so does a client that hangs up, if the wait is a
// fault's.
awaitable<void> session::delay(std::chrono::milliseconds time)
{
    delay_timer_.expires_after(is_shutting_down_ ? std::chrono::milliseconds(0) : time);
    is_delayed_ = true;
    co_await delay_timer_.async_wait(tuple_awaitable);
    is_delayed_ = false;
    delay_slot_.reset();
    machine_.on_delay_end(steady::now());
}

// Reads on before closing: closing with unread client bytes would discard the last reply (TCP
// reset).
awaitable<void> session::linger()
{
    connection_deadline_ = steady::now() + linger_timeout;
    co_await connection_.end_output();
    for (std::size_t skipped = 0; skipped < 1024 * 1024;) {
        const auto got = co_await connection_.read();
        // A client that had closed its side before the last 250 may never have seen it.
        if (got.error == asio::error::eof && !had_ended_)
            machine_.ended_in_order();
        if (got.error || got.bytes.empty())
            co_return;
        skipped += got.bytes.size();
    }
}

void session::note_ending()
{
    const auto ended = machine_.take_ending();
    if (!ended)
        return;
    const auto start = std::exchange(transaction_start_, std::nullopt).value_or(steady::now());
    spool_.reset();
    has_lost_spool_ = false;
    const bool is_fault = ended->result == "fault";
    if (ended->result != "stored" && !is_fault) {
        const trace::scope here(transaction_span_.context());
        log::audit(
            "message refused",
            {{"result", ended->result}, {"reply_code", ended->code}, {"remote_ip", peer_text_}});
    }
    note_rejected_message(*ended);
    note_message_attempt(*ended);
    transaction_span_.set("smtp.reply.code", ended->code);
    transaction_span_.set("smtp.result", ended->result);
    // RFC 5321 4.2.1: 4yz is this side's trouble as a rule, 5yz the sender's.
    if (ended->code / 100 == 4 && !is_fault)
        transaction_span_.fail(ended->result);
    transaction_span_.end();
    // What waited on purpose says nothing of how long mail takes.
    std::optional<double> seconds;
    if (!faults_met_.has_met_any)
        seconds = std::chrono::duration<double>(steady::now() - start).count();
    context_.metrics.transaction(ended->result, ended->code, seconds);
}

// Also if only recipients that were refused are watched.
void session::begin_to_scan()
{
    if (machine_.transaction().is_watched() ||
        (attempts_ && attempts_->number() == machine_.transaction_number()))
        attempts().begin_message();
}

mail_ingest::attempt_log& session::attempts()
{
    if (!attempts_)
        attempts_.emplace(context_.attempts, peer_text_);
    return *attempts_;
}

// Senders are watched to inboxes with faults, to catch-alls, and with a login.
bool session::is_watched(const recipient_result& result) const
{
    return result.is_catch_all || !result.fault_stages.empty() ||
           (result.status != recipient_status::live &&
            !context_.faults.stages_of(result.inbox).empty());
}

void session::note_refused_login(faults::stage at, const smtp::login& who, std::string mail_from,
                                 std::string_view reply, const mail_ingest::fault_memory& met)
{
    envelope sender;
    sender.mail_from = std::move(mail_from);
    sender.tls = machine_.transaction().tls;
    if (at == faults::stage::mail) {
        sender.is_pipelined = machine_.transaction().is_pipelined;
        if (machine_.has_pending_size())
            sender.declared_size = 0;
    }
    attempts().note_refused_login(who, at, sender, reply, met);
}

void session::note_recipient_attempt(const recipient_result& result)
{
    // A fault that closes the connection may have no reply.
    const bool is_refused = result.fault && result.fault->refuses();
    attempts().note_recipient(machine_.transaction_number(), machine_.transaction(), result,
                              machine_.pending_recipient().text,
                              is_refused ? result.fault->reply : machine_.last_reply(),
                              faults_met_);
}

void session::note_message_attempt(const ending& ended)
{
    auto emails = std::exchange(stored_emails_, {});
    if (!attempts_ && !ended.envelope.is_watched())
        return;
    attempts().end_message(ended.envelope,
                           {ended.at, ended.code, ended.reply, ended.is_chunked, std::move(emails)},
                           faults_met_);
}

// Without a message; and a MAIL that began none.
void session::note_ended_transaction()
{
    if (const auto reply = machine_.take_refused_mail(); !reply.empty())
        note_refused_login(faults::stage::mail, *machine_.login(), machine_.pending_mail_from(),
                           reply, {});
    if (attempts_ && attempts_->number() != 0 &&
        (attempts_->number() != machine_.transaction_number() || !machine_.has_transaction()))
        attempts_->end_transaction(faults_met_);
}

void session::note_session_end()
{
    if (!attempts_)
        return;
    attempts_->end_transaction(faults_met_);
    using mailbox::session_end;
    attempts_->end_session(machine_.has_quit()    ? session_end::quit
                           : machine_.is_closed() ? session_end::closed
                                                  : session_end::dropped);
}

void session::check_deadline(steady::time_point now)
{
    if (connection_deadline_ && now >= *connection_deadline_) {
        connection_.close();
    } else if (is_reading_ && now >= machine_.deadline()) {
        has_expired_ = true;
        connection_.cancel();
    } else if (is_delayed_ && delay_slot_ && connection_.has_hung_up()) {
        delay_timer_.cancel();
    }
}

void session::shut_down()
{
    is_shutting_down_ = true;
    machine_.shut_down();
    if (is_reading_ && !machine_.is_in_message())
        connection_.cancel();
    if (is_delayed_)
        delay_timer_.cancel();
}

void session::abort()
{
    connection_.close();
    if (is_delayed_)
        delay_timer_.cancel();
}

} // namespace tempinbox::smtp
