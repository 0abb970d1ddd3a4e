#include "mail-ingest/smtp/session_machine.hpp"

#include "mail-ingest/smtp/replies.hpp"

namespace tempinbox::smtp {

std::optional<action> session_machine::handle_data(std::string_view arguments)
{
    if (!has_transaction_ || is_bdat_) {
        say_error(is_bdat_ ? replies::in_chunks : replies::need_mail);
    } else if (!arguments.empty()) {
        say_error(replies::bad_arguments);
    } else if (transaction_.recipients.empty()) {
        say_error(has_refused_recipient_ ? replies::no_valid_recipients : replies::need_recipient);
    } else if (!input_.empty()) {
        close(replies::out_of_turn); // RFC 2920 3.1: DATA must be the last command of a group
    } else if (lacks_space(transaction_.declared_size)) {
        end_transaction("overloaded", replies::out_of_memory);
    } else {
        begin_message();
        state_ = state::data;
        say(replies::start_mail);
        return suspend(action::kind::begin);
    }
    return std::nullopt;
}

// RFC 3030 2: the octets follow the command whatever the reply, so a refused chunk is read too.
std::optional<action> session_machine::handle_bdat(std::string_view arguments)
{
    const auto given = parse_chunk(arguments);
    if (!given) {
        close(replies::bad_arguments); // the end of the chunk cannot be known
        return std::nullopt;
    }
    chunk_ = *given;
    chunk_left_ = given->size;
    if (!has_transaction_ || transaction_.recipients.empty()) {
        refusal_ = has_transaction_ && has_refused_recipient_ ? replies::no_valid_recipients
                                                              : replies::need_recipient;
        if (given->size > 2 * limits_.message_bytes) {
            close(refusal_);
            return std::nullopt;
        }
        return refuse_chunk(refusal_);
    }
    // A message over its own limit gets its 552 at its end.
    const auto held = is_bdat_ ? message_size_ : 0;
    if (held + given->size <= allowed_ && lacks_space(given->size))
        return refuse_chunk(replies::out_of_memory);
    state_ = state::chunk;
    if (is_bdat_)
        return std::nullopt; // the pace is measured over the message, not over a chunk
    begin_message();
    is_bdat_ = true;
    action next_action;
    next_action.what = action::kind::begin;
    return next_action;
}

// Skips the chunk's octets and drops the message's earlier chunks.
std::optional<action> session_machine::refuse_chunk(std::string_view reply)
{
    refusal_ = reply;
    state_ = state::unwanted_chunk;
    if (is_bdat_)
        return suspend(action::kind::drop);
    message_start_ = now_;
    window_start_ = now_;
    window_bytes_ = 0;
    return std::nullopt;
}

// True if there is no room for `size` more bytes. A message under way keeps what it holds, so a
// general shortage does not end it.
bool session_machine::lacks_space(std::optional<std::uint64_t> size) const
{
    return (is_overloaded_ && !is_bdat_) || size.value_or(0) > available_bytes_;
}

void session_machine::begin_message()
{
    scanner_ = {};
    newlines_ = {};
    is_lost_ = false;
    message_size_ = 0;
    message_start_ = now_;
    window_start_ = now_;
    window_bytes_ = 0;
    oversize_since_.reset();
}

std::optional<action> session_machine::take_data()
{
    if (scanner_.is_complete())
        return end_message();
    scratch_.clear();
    const auto used = scanner_.scan(input_, scratch_);
    input_.remove_prefix(used);
    return keep(scratch_, used);
}

std::optional<action> session_machine::take_chunk()
{
    const auto taken = input_.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(input_.size(), chunk_left_)));
    input_.remove_prefix(taken.size());
    chunk_left_ -= taken.size();
    newlines_.scan(taken);
    if (!taken.empty())
        return keep(taken, taken.size());
    if (chunk_.is_last)
        return end_message();
    if (oversize_since_) {
        end_transaction("too_large", replies::too_large);
        return std::nullopt;
    }
    if (is_lost_) {
        end_transaction("overloaded", replies::out_of_memory);
        return std::nullopt;
    }
    state_ = state::command;
    active_ = now_;
    say(replies::chunk_ok);
    return std::nullopt;
}

// Counts a message's bytes and passes them on while the message is not too large.
std::optional<action> session_machine::keep(std::string_view bytes, std::size_t used)
{
    window_bytes_ += used;
    message_size_ += bytes.size();
    action next_action;
    if (message_size_ > 2 * allowed_) {
        ending_ = ending{"too_large", 552};
        close(replies::too_large);
    }
    if (oversize_since_)
        return std::nullopt;
    if (message_size_ > allowed_) {
        oversize_since_ = now_;
        next_action.what = action::kind::drop;
        return next_action;
    }
    if (is_lost_)
        return std::nullopt;
    next_action.what = action::kind::append;
    next_action.bytes = bytes;
    return next_action;
}

void session_machine::skip_chunk()
{
    const auto skipped =
        static_cast<std::size_t>(std::min<std::uint64_t>(input_.size(), chunk_left_));
    input_.remove_prefix(skipped);
    chunk_left_ -= skipped;
    window_bytes_ += skipped;
    if (chunk_left_ > 0)
        return;
    state_ = state::command;
    if (refusal_ == replies::out_of_memory)
        end_transaction("overloaded", refusal_); // not the client's error
    else
        say_error(refusal_);
}

std::optional<action> session_machine::end_message()
{
    const bool has_bare_newline =
        is_bdat_ ? newlines_.has_bare_newline() : scanner_.has_bare_newline();
    if (oversize_since_) {
        end_transaction("too_large", replies::too_large);
        return std::nullopt;
    }
    if (has_bare_newline && !limits_.takes_bare_newlines) {
        end_transaction("bare_newline", replies::bare_newline);
        return suspend(action::kind::drop);
    }
    if (is_lost_) {
        end_transaction("overloaded", replies::out_of_memory);
        return std::nullopt;
    }
    scanner_ = {};
    state_ = state::storing;
    return suspend(action::kind::finish);
}

void session_machine::on_message_result(const message_result& result, time_point now)
{
    now_ = now;
    switch (result.status) {
    case message_status::stored:
        is_acknowledged_ = false;
        has_input_since_reply_ = false;
        return end_transaction("stored", "250 2.0.0 Ok: queued as " + result.id);
    case message_status::gone:
        return end_transaction("gone", replies::unknown_recipient);
    case message_status::full:
        return end_transaction("full", replies::mailbox_full);
    case message_status::looping:
        return end_transaction("looping", replies::looping);
    case message_status::too_large:
        return end_transaction("too_large", replies::too_large);
    case message_status::unstorable:
        return end_transaction("unstorable", replies::unstorable);
    case message_status::overloaded:
        return end_transaction("overloaded", replies::out_of_memory);
    case message_status::unavailable:
        return end_transaction("unavailable", replies::unavailable);
    }
}

void session_machine::end_transaction(std::string_view result, std::string_view reply)
{
    const int code = (reply[0] - '0') * 100 + (reply[1] - '0') * 10 + (reply[2] - '0');
    ending_ = ending{result, code};
    reset();
    scanner_ = {};
    scratch_ = {};
    active_ = now_;
    state_ = state::command;
    say(reply);
}

} // namespace tempinbox::smtp
