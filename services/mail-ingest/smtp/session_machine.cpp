#include "mail-ingest/smtp/session_machine.hpp"

#include "mail-ingest/smtp/replies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tempinbox::smtp {
namespace {

constexpr auto never = session_machine::time_point::max();
constexpr std::string_view by_fault = "fault"; // in place of the reply to a chunk

// The code that a reply begins with.
int code_of(std::string_view reply)
{
    return (reply[0] - '0') * 100 + (reply[1] - '0') * 10 + (reply[2] - '0');
}

} // namespace

session_machine::session_machine(const limits& bounds, client who, time_point now)
    : limits_(bounds),
      client_(who),
      now_(now),
      started_(now),
      active_(now),
      replies_(bounds),
      commands_(bounds, who, replies_),
      message_(bounds),
      data_(message_),
      chunk_(message_)
{}

void session_machine::greet()
{
    const auto step = commands_.greet(input_);
    phase_ = step.what == command_step::kind::close ? phase::closed : phase::command;
}

void session_machine::receive(std::string_view bytes, time_point now)
{
    now_ = active_ = now;
    if (!bytes.empty() && acknowledgment_ == acknowledgment::unseen)
        acknowledgment_ = acknowledgment::input_since;
    if (input_.empty()) {
        if (held_input_.capacity() > limits_.command_line)
            held_input_ = {};
        input_ = bytes;
        return;
    }
    hold_input();
    append_to_held_input(bytes);
    input_ = held_input_;
}

void session_machine::tls_started(std::string protocol, time_point now)
{
    now_ = active_ = now;
    input_ = {};
    commands_.tls_started(std::move(protocol));
    phase_ = phase::command;
}

action session_machine::next()
{
    for (;;) {
        if (const auto wait = replies_.take_wait(); wait.count() > 0) {
            auto delay = suspend(action::kind::delay);
            delay.wait = wait;
            return delay;
        }
        replies_.say_delayed();
        if (const auto next_action = resume())
            return *next_action;
    }
}

std::optional<action> session_machine::resume()
{
    switch (phase_) {
    case phase::greeting:
        return suspend(action::kind::read);
    case phase::command:
        return take_command();
    case phase::look_up:
        return suspend(action::kind::look_up);
    case phase::login:
        return suspend(action::kind::log_in);
    case phase::admission:
        return suspend(action::kind::admit);
    case phase::fault:
        return suspend(action::kind::meet_fault);
    case phase::beginning:
        return begin_message();
    case phase::data:
        return take_message(data_.resume(input_, now_));
    case phase::chunk:
        return take_message(chunk_.resume(input_, now_));
    case phase::storing:
        return suspend(action::kind::finish);
    case phase::handshake:
        return suspend(action::kind::start_tls);
    case phase::closed:
        break;
    }
    return suspend(action::kind::close);
}

// Copies unread input: the caller's buffer may hold another session's bytes when this one resumes.
action session_machine::suspend(action::kind what)
{
    if (!input_.empty())
        hold_input();
    else if (commands_.needs_login())
        wipe(held_input_);
    action next_action;
    next_action.what = what;
    return next_action;
}

void session_machine::hold_input()
{
    if (!input_.empty() && (held_input_.empty() || input_.data() < held_input_.data() ||
                            input_.data() >= held_input_.data() + held_input_.size())) {
        held_input_.assign(input_);
    } else {
        const auto used = input_.empty()
                              ? held_input_.size()
                              : static_cast<std::size_t>(input_.data() - held_input_.data());
        // What was used may be a password.
        if (commands_.needs_login())
            ::explicit_bzero(held_input_.data(), used);
        held_input_.erase(0, used);
    }
    input_ = held_input_;
}

// A string that grows leaves its old bytes behind in freed memory: not those of a password.
void session_machine::append_to_held_input(std::string_view bytes)
{
    if (commands_.needs_login() && held_input_.capacity() - held_input_.size() < bytes.size()) {
        std::string grown;
        grown.reserve(std::max(2 * held_input_.size(), held_input_.size() + bytes.size()));
        grown = held_input_;
        wipe(held_input_);
        held_input_.swap(grown);
    }
    held_input_.append(bytes);
}

std::optional<action> session_machine::take_command()
{
    const bool was_in_chunks = commands_.is_in_chunks();
    if (is_shutting_down_ && !was_in_chunks) {
        close(replies::shutting_down);
        return std::nullopt;
    }
    const auto step = commands_.resume(input_, server_);
    if (step.what == command_step::kind::read)
        return suspend(action::kind::read);
    // A command sent before the 250 does not acknowledge it (RFC 2920 allows pipelining).
    if (acknowledgment_ == acknowledgment::input_since)
        acknowledgment_ = acknowledgment::seen;

    switch (step.what) {
    case command_step::kind::read:
    case command_step::kind::replied:
        break;
    case command_step::kind::look_up:
        phase_ = phase::look_up;
        break;
    case command_step::kind::log_in:
        phase_ = phase::login;
        break;
    case command_step::kind::admit:
        phase_ = phase::admission;
        break;
    case command_step::kind::data:
        message_stage_ = faults::stage::data;
        is_chunked_ = false;
        if (!commands_.envelope().may_meet_fault(faults::stage::data))
            return begin_data();
        phase_ = phase::fault;
        break;
    case command_step::kind::chunk:
        if (!was_in_chunks)
            message_stage_ = faults::stage::data;
        is_chunked_ = true;
        if (was_in_chunks || !step.refusal.empty() ||
            !commands_.envelope().may_meet_fault(faults::stage::data))
            return begin_chunk(step.chunk, step.refusal);
        first_chunk_ = step.chunk;
        phase_ = phase::fault;
        break;
    case command_step::kind::start_tls:
        phase_ = phase::handshake;
        break;
    case command_step::kind::quit:
        has_quit_ = true;
        if (acknowledgment_ == acknowledgment::unseen)
            acknowledgment_ = acknowledgment::quit_ahead;
        phase_ = phase::closed;
        break;
    case command_step::kind::close:
        phase_ = phase::closed;
        break;
    }
    // EHLO, RSET and STARTTLS end a message that was being sent in chunks.
    if (was_in_chunks && !commands_.is_in_chunks())
        return suspend(action::kind::drop);
    return std::nullopt;
}

void session_machine::on_recipient_result(const recipient_result& result)
{
    go_on_after(commands_.on_recipient_result(result));
}

void session_machine::on_login_result(login_result result, time_point now)
{
    now_ = active_ = now;
    go_on_after(commands_.on_login_result(std::move(result)));
}

void session_machine::on_admission_result(const admission_result& result)
{
    go_on_after(commands_.on_admission_result(result));
}

void session_machine::go_on_after(const command_step& step)
{
    phase_ = step.what == command_step::kind::close ? phase::closed : phase::command;
}

void session_machine::on_fault_result(std::optional<fault> played)
{
    // Nothing of the message is held while it waits.
    if (played && !played->refuses())
        replies_.reply_later(std::exchange(played, std::nullopt)->delay, {});
    fault_ = std::move(played);
    phase_ = phase::beginning;
}

std::optional<action> session_machine::begin_message()
{
    const auto chunk = std::exchange(first_chunk_, std::nullopt);
    // What is refused is read to its end, but no more than of a message without a fault.
    if (chunk && fault_ && chunk->size > 2 * commands_.allowed_bytes()) {
        end_with(*std::exchange(fault_, std::nullopt));
        phase_ = phase::closed;
        return std::nullopt;
    }
    if (chunk)
        return begin_chunk(*chunk, fault_ ? by_fault : std::string_view());
    if (!fault_)
        return begin_data();
    end_with(*std::exchange(fault_, std::nullopt));
    return std::nullopt;
}

std::optional<action> session_machine::begin_data()
{
    if (server_.lacks_space(commands_.envelope().declared_size)) {
        end_transaction("overloaded", replies::out_of_memory);
        return std::nullopt;
    }
    message_.begin(commands_.allowed_bytes(), now_);
    data_.begin();
    phase_ = phase::data;
    message_stage_ = faults::stage::end;
    replies_.say(replies::start_mail);
    return suspend(action::kind::begin);
}

std::optional<action> session_machine::begin_chunk(const chunk& given, std::string_view refusal)
{
    const bool is_first = !commands_.is_in_chunks();
    // A message over its own limit gets its 552 at its end. A message under way keeps what it
    // holds, so a general shortage does not end it.
    const auto held = is_first ? 0 : message_.size();
    const bool lacks_space =
        is_first ? server_.lacks_space(given.size) : given.size > server_.available_bytes;
    if (refusal.empty() && held + given.size <= commands_.allowed_bytes() && lacks_space)
        refusal = replies::out_of_memory;

    phase_ = phase::chunk;
    // The pace is measured over the message, not over a chunk.
    if (is_first)
        message_.begin(commands_.allowed_bytes(), now_);
    if (!refusal.empty()) {
        chunk_.begin_refused(given, refusal);
        return is_first ? std::nullopt : std::optional(suspend(action::kind::drop));
    }
    chunk_.begin(given);
    message_stage_ = faults::stage::end;
    if (!is_first)
        return std::nullopt;
    chunk_.begin_message();
    commands_.begin_chunks();
    action next_action;
    next_action.what = action::kind::begin;
    return next_action;
}

std::optional<action> session_machine::take_message(const message_step& step)
{
    if (message_.is_excessive())
        close_in_message("too_large", replies::too_large);
    action next_action;
    switch (step.what) {
    case message_step::kind::read:
        return suspend(action::kind::read);
    case message_step::kind::resume:
        return std::nullopt;
    case message_step::kind::append:
        next_action.what = action::kind::append;
        next_action.bytes = step.bytes;
        return next_action;
    case message_step::kind::drop:
        next_action.what = action::kind::drop;
        return next_action;
    case message_step::kind::end:
        break;
    }
    return phase_ == phase::chunk ? end_chunk() : end_message(data_.has_bare_newline());
}

std::optional<action> session_machine::end_chunk()
{
    const auto refusal = chunk_.refusal();
    if (fault_) {
        end_with(*std::exchange(fault_, std::nullopt));
    } else if (refusal == replies::out_of_memory) { // not the client's error
        end_transaction("overloaded", refusal);
    } else if (!refusal.empty()) {
        phase_ = replies_.say_error(refusal) ? phase::command : phase::closed;
    } else if (chunk_.is_last()) {
        return end_message(chunk_.has_bare_newline());
    } else if (message_.is_too_large()) {
        end_transaction("too_large", replies::too_large);
    } else if (message_.is_lost()) {
        end_transaction("overloaded", replies::out_of_memory);
    } else {
        phase_ = phase::command;
        active_ = now_;
        replies_.say(replies::chunk_ok);
    }
    return std::nullopt;
}

std::optional<action> session_machine::end_message(bool has_bare_newline)
{
    if (message_.is_too_large()) {
        end_transaction("too_large", replies::too_large);
        return std::nullopt;
    }
    if (has_bare_newline && !limits_.takes_bare_newlines) {
        end_transaction("bare_newline", replies::bare_newline);
        return suspend(action::kind::drop);
    }
    if (message_.is_lost()) {
        end_transaction("overloaded", replies::out_of_memory);
        return std::nullopt;
    }
    phase_ = phase::storing;
    return suspend(action::kind::finish);
}

void session_machine::on_message_result(const message_result& result, time_point now)
{
    now_ = now;
    const auto output_before = replies_.output().size();
    switch (result.status) {
    case message_status::stored:
        acknowledgment_ = acknowledgment::unseen;
        if (result.fault && result.fault->is_cut)
            return end_with(*result.fault, true);
        end_transaction("stored", "250 2.0.0 Ok: queued as " + result.id);
        if (result.fault)
            replies_.delay_since(output_before, result.fault->delay);
        return;
    case message_status::gone:
        return end_transaction("gone", replies::unknown_recipient);
    case message_status::full:
        return end_transaction("full", replies::mailbox_full);
    case message_status::full_for_now:
        return end_transaction("full", replies::mailbox_full_for_now);
    case message_status::looping:
        return end_transaction("looping", replies::looping);
    case message_status::too_large:
        return end_transaction("too_large", replies::too_large);
    case message_status::unstorable:
        return end_transaction("unstorable", replies::unstorable);
    case message_status::overloaded:
        return end_transaction("overloaded", replies::out_of_memory);
    case message_status::fault:
        return end_with(*result.fault);
    case message_status::unavailable:
        return end_transaction("unavailable", replies::unavailable);
    }
}

void session_machine::note_ending(std::string_view result, int code, std::string_view reply,
                                  smtp::envelope ended, bool is_stored)
{
    ending_ = ending{result,    code,           std::string(reply), std::move(ended),
                     is_stored, message_stage_, is_chunked_};
}

void session_machine::end_transaction(std::string_view result, std::string_view reply)
{
    note_ending(result, code_of(reply), reply, commands_.end_transaction(), result == "stored");
    data_.release();
    active_ = now_;
    phase_ = phase::command;
    replies_.say(reply);
}

// Without a reply its code is 0.
void session_machine::end_with(const fault& played, bool is_stored)
{
    note_ending("fault", played.reply.empty() ? 0 : code_of(played.reply), played.reply,
                commands_.end_transaction(), is_stored);
    data_.release();
    active_ = now_;
    phase_ = played.closes() ? phase::closed : phase::command;
    replies_.play(played);
}

void session_machine::close(std::string_view reply)
{
    replies_.say(reply);
    phase_ = phase::closed;
}

void session_machine::close_in_message(std::string_view result, std::string_view reply)
{
    note_ending(result, code_of(reply), reply, commands_.envelope(), false);
    close(reply);
}

void session_machine::ended_in_order()
{
    if (acknowledgment_ == acknowledgment::quit_ahead)
        acknowledgment_ = acknowledgment::seen;
}

std::optional<ending> session_machine::take_ending()
{
    return std::exchange(ending_, std::nullopt);
}

session_machine::time_point session_machine::deadline() const
{
    switch (phase_) {
    case phase::data:
    case phase::chunk:
        return std::min({message_deadline(), message_.window_deadline(), login_deadline()});
    case phase::greeting:
    case phase::command:
        // A client cannot hold a message forever by sending commands between chunks.
        return commands_.is_in_chunks()
                   ? std::min({idle_deadline(), message_deadline(), message_.window_deadline()})
                   : idle_deadline();
    default:
        return never;
    }
}

bool session_machine::waits_for_command() const
{
    return phase_ == phase::greeting || phase_ == phase::command;
}

// For a session that waits for a command.
session_machine::time_point session_machine::idle_deadline() const
{
    const auto idle = is_busy_ ? limits_.idle_when_busy : limits_.idle;
    const auto idle_end = idle.count() > 0 ? active_ + idle : never;
    return commands_.is_in_chunks()
               ? idle_end
               : std::min({idle_end, session_deadline(started_), login_deadline()});
}

// Whoever must log in has little time for it, whatever else it sends.
session_machine::time_point session_machine::login_deadline() const
{
    const bool has_end = limits_.login.count() > 0 && commands_.needs_login();
    return has_end ? started_ + limits_.login : never;
}

// Counted from the message's beginning, so a message that began in time may end after the session's
// limit. The rest of an oversize message has less time.
session_machine::time_point session_machine::message_deadline() const
{
    return std::min(session_deadline(message_.start()), message_.oversize_deadline());
}

session_machine::time_point session_machine::session_deadline(time_point start) const
{
    const bool has_end = limits_.session.count() > 0 && !client_.is_exempt;
    return has_end ? start + limits_.session : never;
}

void session_machine::expire(time_point now)
{
    now_ = now;
    if (now < deadline() || !has_timed_out(now))
        return;
    // If the time for an oversize message's rest is over, the reply still names its size.
    const bool is_too_large = is_in_message() && now >= message_.oversize_deadline();
    if (is_too_large)
        close_in_message("too_large", replies::too_large);
    else if (is_in_message())
        close_in_message("timed_out", replies::timed_out);
    else
        close(replies::timed_out);
}

// Called when a deadline has passed.
bool session_machine::has_timed_out(time_point now)
{
    if (now >= login_deadline() || (waits_for_command() && now >= idle_deadline()))
        return true;
    const bool has_message = !waits_for_command() || commands_.is_in_chunks();
    if (has_message && now >= message_deadline())
        return true;
    return message_.is_too_slow(now);
}

} // namespace tempinbox::smtp
