#include "mail-ingest/smtp/session_machine.hpp"

#include "common/core/text.hpp"
#include "mail-ingest/smtp/replies.hpp"

namespace tempinbox::smtp {

std::optional<action> session_machine::handle_line(std::string_view line)
{
    if (state_ != state::command || line.empty())
        return std::nullopt;
    return handle(parse_command(line));
}

std::optional<action> session_machine::handle(const command& given)
{
    switch (given.verb) {
    case verb::ehlo:
    case verb::helo:
        return handle_hello(given);
    case verb::mail:
        handle_mail(given.arguments);
        return std::nullopt;
    case verb::rcpt:
        return handle_rcpt(given.arguments);
    case verb::data:
        return handle_data(given.arguments);
    case verb::bdat:
        return handle_bdat(given.arguments);
    case verb::starttls:
        return handle_starttls(given.arguments);
    case verb::rset: {
        if (!given.arguments.empty()) {
            say_error(replies::bad_arguments);
            return std::nullopt;
        }
        const bool was_in_message = is_bdat_;
        reset();
        say(replies::ok);
        return was_in_message ? std::optional<action>(suspend(action::kind::drop)) : std::nullopt;
    }
    case verb::noop:
        say(replies::ok);
        return std::nullopt;
    case verb::vrfy:
        say(replies::vrfy);
        return std::nullopt;
    case verb::help:
        say(replies::help);
        return std::nullopt;
    case verb::quit:
        // RFC 2920 3.1: QUIT must be the last command of a group.
        has_quit_ = input_.empty();
        close(has_quit_ ? replies::bye : replies::out_of_turn);
        return std::nullopt;
    case verb::http:
        close(replies::not_smtp);
        return std::nullopt;
    case verb::unserved:
        say_error(replies::not_served);
        return std::nullopt;
    case verb::unknown:
        break;
    }
    say_error(replies::unknown_command);
    return std::nullopt;
}

std::optional<action> session_machine::handle_hello(const command& given)
{
    if (!input_.empty()) {
        close(replies::out_of_turn); // RFC 2920 3.1
        return std::nullopt;
    }
    if (given.arguments.empty()) {
        say_error(replies::bad_arguments);
        return std::nullopt;
    }
    // RFC 5321 4.1.4: EHLO acts as RSET, so chunks sent so far are dropped too.
    const auto dropped =
        is_bdat_ ? std::optional<action>(suspend(action::kind::drop)) : std::nullopt;
    reset();
    has_said_hello_ = true;
    transaction_.helo = to_clean_utf8(given.arguments.substr(0, 255));
    if (given.verb == verb::helo) {
        say("250 " + limits_.hostname);
        return dropped;
    }
    say("250-" + limits_.hostname);
    say("250-PIPELINING");
    say("250-SIZE " + std::to_string(limits_.message_bytes));
    say("250-8BITMIME");
    say("250-SMTPUTF8");
    say("250-ENHANCEDSTATUSCODES");
    say("250-CHUNKING");
    if (client_.can_start_tls && !is_tls_)
        say("250-STARTTLS");
    // RFC 9422
    std::string bounds = "250 LIMITS RCPTMAX=" + std::to_string(limits_.recipients);
    if (limits_.messages > 0 && !client_.is_exempt)
        bounds += " MAILMAX=" + std::to_string(limits_.messages);
    say(bounds);
    return dropped;
}

void session_machine::handle_mail(std::string_view arguments)
{
    if (!has_said_hello_)
        return say_error(replies::say_hello_first);
    if (has_transaction_)
        return say_error(is_bdat_ ? replies::in_chunks : replies::nested_mail);
    auto sender = parse_path(arguments);
    if (!sender || (!sender->smtp_path.text.empty() && sender->smtp_path.domain.empty()))
        return say_error(replies::bad_sender);
    const auto parameters = parse_mail_parameters(sender->parameters);
    if (!parameters)
        return say_error(replies::bad_parameter);
    if (sender->smtp_path.has_utf8 && !parameters->smtputf8)
        return say_error(replies::needs_smtputf8);
    if (parameters->size && *parameters->size > limits_.message_bytes)
        return say(replies::too_large);
    if (limits_.messages > 0 && !client_.is_exempt && messages_ >= limits_.messages)
        return close(replies::too_many_messages);
    if (is_over_rate_)
        return say(replies::sender_over_rate);
    if (is_unavailable_)
        return say(replies::unavailable);
    if (lacks_space(parameters->size))
        return say(replies::out_of_memory);

    ++messages_;
    has_transaction_ = true;
    transaction_.mail_from = std::move(sender->smtp_path.text);
    transaction_.declared_size = parameters->size;
    transaction_.has_utf8 = parameters->smtputf8;
    say(replies::sender_ok);
}

std::optional<action> session_machine::handle_rcpt(std::string_view arguments)
{
    if (!has_transaction_ || is_bdat_) {
        say_error(is_bdat_ ? replies::in_chunks : replies::need_mail);
        return std::nullopt;
    }
    auto given = parse_path(arguments);
    if (!given || given->smtp_path.text.empty()) {
        say_error(replies::bad_recipient);
        return std::nullopt;
    }
    if (given->parameters.find_first_not_of(' ') != std::string_view::npos) {
        say_error(replies::bad_parameter);
        return std::nullopt;
    }
    if (given->smtp_path.has_utf8 && !transaction_.has_utf8) {
        say_error(replies::needs_smtputf8);
        return std::nullopt;
    }
    if (limits_.recipients > 0 &&
        transaction_.recipients.size() >= static_cast<std::size_t>(limits_.recipients)) {
        say(replies::too_many_recipients);
        return std::nullopt;
    }
    pending_recipient_ = std::move(given->smtp_path);
    state_ = state::looking_up;
    return std::nullopt;
}

void session_machine::on_recipient_result(const recipient_result& result)
{
    state_ = state::command;
    const auto output_before = output_.size();
    const auto recipients_before = transaction_.recipients.size();
    if (result.status != recipient_status::live)
        has_refused_recipient_ = true;
    switch (result.status) {
    case recipient_status::live:
        accept(result);
        break;
    case recipient_status::unknown:
        ++unknown_;
        if (limits_.unknown_before_close > 0 && unknown_ >= limits_.unknown_before_close)
            return close(replies::too_many_unknown);
        if (limits_.unknown_before_delay > 0 && unknown_ >= limits_.unknown_before_delay)
            reply_later(limits_.unknown_delay, std::string(replies::unknown_recipient));
        else
            say(replies::unknown_recipient);
        break;
    case recipient_status::quarantined:
        say(replies::unknown_recipient);
        break;
    case recipient_status::foreign:
        say_error(replies::relaying_denied);
        break;
    case recipient_status::full:
        say(replies::mailbox_full);
        break;
    case recipient_status::over_rate:
        say(replies::over_rate);
        break;
    case recipient_status::unavailable:
        say(replies::unavailable);
        break;
    }
    const bool is_refused = transaction_.recipients.size() == recipients_before;
    if (is_refused)
        ++refused_;
    const bool is_one_too_many =
        is_refused && limits_.refused_before_delay > 0 && refused_ >= limits_.refused_before_delay;
    if ((result.is_slowed || is_one_too_many) && state_ == state::command &&
        delayed_reply_.empty()) {
        reply_later(result.is_slowed ? limits_.unknown_delay : limits_.error_delay,
                    output_.substr(output_before, output_.size() - output_before - 2));
        output_.resize(output_before);
    }
}

std::uint64_t session_machine::allowed_by(const recipient_result& result) const
{
    return std::min(result.max_message_bytes, limits_.message_bytes);
}

// The first recipient's plan sets the transaction's limit. A recipient with another limit is
// accepted only if the declared size fits both, so that nobody is left out after the 250.
void session_machine::accept(const recipient_result& result)
{
    const auto allowed = allowed_by(result);
    const auto declared = transaction_.declared_size;
    if (declared && *declared > allowed) {
        has_refused_recipient_ = true;
        return say(replies::too_large_for_recipient);
    }
    if (!transaction_.recipients.empty() && allowed != allowed_ && !declared)
        return say(replies::other_size_limit);
    allowed_ = transaction_.recipients.empty() ? allowed : std::min(allowed, allowed_);

    recipient taken;
    taken.account = result.account;
    taken.inbox = result.inbox;
    taken.as_given = pending_recipient_.text;
    taken.domain = pending_recipient_.domain;
    taken.max_message_bytes = allowed;
    transaction_.recipients.push_back(std::move(taken));
    say(replies::recipient_ok);
}

std::optional<action> session_machine::handle_starttls(std::string_view arguments)
{
    if (!client_.can_start_tls && !is_tls_) {
        say_error(replies::not_served);
    } else if (is_tls_) {
        say_error(replies::tls_already);
    } else if (!arguments.empty()) {
        say_error(replies::bad_arguments);
    } else if (!input_.empty()) {
        // What was sent in the clear must never pass for what the handshake protects.
        input_ = {};
        close(replies::out_of_turn);
    } else {
        const bool was_in_message = is_bdat_;
        reset();
        say(replies::start_tls);
        state_ = state::handshake;
        if (was_in_message)
            return suspend(action::kind::drop);
    }
    return std::nullopt;
}

} // namespace tempinbox::smtp
