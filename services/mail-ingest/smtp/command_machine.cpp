#include "mail-ingest/smtp/command_machine.hpp"

#include "common/core/text.hpp"
#include "mail-ingest/smtp/replies.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::smtp {
namespace {

using kind = command_step::kind;

constexpr char tls_handshake_record = 0x16; // RFC 8446 5.1

bool has_control_character(std::string_view line)
{
    return std::any_of(line.begin(), line.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    });
}

} // namespace

command_step command_machine::greet(std::string_view early)
{
    // RFC 5321 4.3.1: the client must wait for the greeting.
    if (!early.empty()) {
        const bool is_other_protocol =
            early.front() == tls_handshake_record ||
            parse_command(early.substr(0, early.find('\r'))).verb == verb::http;
        return close(is_other_protocol ? replies::not_smtp : replies::out_of_turn);
    }
    return say("220 " + limits_.hostname + " ESMTP");
}

// Input without an end of line stays; an overlong line is dropped up to its end.
command_step command_machine::resume(std::string_view& input, const server_state& server)
{
    if (input.empty())
        return {kind::read, {}, {}};
    if (phase_ == phase::no_hello && !has_tls() && !is_dropping_line_ &&
        input.front() == tls_handshake_record)
        return close(replies::not_smtp);
    const auto end = input.find('\n');
    const bool is_too_long = std::min(end, input.size()) > limits_.command_line;
    if (end == std::string_view::npos) {
        if (is_too_long || is_dropping_line_) {
            is_dropping_line_ = true;
            input = {};
        }
        return {kind::read, {}, {}};
    }
    const auto line = input.substr(0, end);
    input.remove_prefix(end + 1);
    const bool was_cut = std::exchange(is_dropping_line_, false);
    if (is_too_long || was_cut) {
        const bool was_exchange = phase_ == phase::exchange;
        end_exchange();
        return say_error(was_exchange ? replies::exchange_too_long : replies::line_too_long);
    }
    return take_line(line, input, server);
}

// `line` is without its LF, `rest` is what the client sent after it.
command_step command_machine::take_line(std::string_view line, std::string_view& rest,
                                        const server_state& server)
{
    const bool ends_well = !line.empty() && line.back() == '\r';
    if (ends_well)
        line.remove_suffix(1);
    if (phase_ == phase::exchange && (ends_well || limits_.takes_bare_newlines))
        return take_response(line, rest);
    end_exchange();
    // RFC 5321 2.3.8: only CRLF ends a line.
    if ((!ends_well && !limits_.takes_bare_newlines) || has_control_character(line)) {
        if (parse_command(line).verb == verb::http)
            return close(replies::not_smtp);
        return say_error(replies::bad_line);
    }
    if (line.empty())
        return say_error(replies::unknown_command);
    return handle(parse_command(line), rest, server);
}

command_step command_machine::handle(const command& received, std::string_view& rest,
                                     const server_state& server)
{
    if (const auto reply = missing_login(); !reply.empty()) {
        const auto is_any_of = {verb::mail, verb::rcpt, verb::data, verb::vrfy};
        if (std::ranges::find(is_any_of, received.verb) != is_any_of.end())
            return say_error(reply);
    }
    if (!rest.empty() && (received.verb == verb::mail || received.verb == verb::rcpt))
        envelope_.is_pipelined = true;
    switch (received.verb) {
    case verb::ehlo:
    case verb::helo:
        return handle_hello(received, rest);
    case verb::mail:
        return handle_mail(received.arguments, server);
    case verb::rcpt:
        return handle_rcpt(received.arguments);
    case verb::data:
        return handle_data(received.arguments, rest);
    case verb::bdat:
        return handle_bdat(received.arguments);
    case verb::starttls:
        return handle_starttls(received.arguments, rest);
    case verb::auth:
        return handle_auth(received.arguments, rest);
    case verb::rset:
        return handle_rset(received.arguments);
    case verb::noop:
        return say(replies::ok);
    case verb::vrfy:
        return say(replies::vrfy);
    case verb::help:
        return say(replies::help);
    case verb::quit:
        // RFC 2920 3.1: QUIT must be the last command of a group.
        if (!rest.empty())
            return close(replies::out_of_turn);
        replies_.say(replies::bye);
        return {kind::quit, {}, {}};
    case verb::http:
        return close(replies::not_smtp);
    case verb::unserved:
        return say_error(replies::not_served);
    case verb::unknown:
        break;
    }
    return say_error(replies::unknown_command);
}

command_step command_machine::handle_hello(const command& received, std::string_view rest)
{
    if (!rest.empty())
        return close(replies::out_of_turn); // RFC 2920 3.1
    if (received.arguments.empty())
        return say_error(replies::bad_arguments);
    // RFC 5321 4.1.4: EHLO acts as RSET.
    end_transaction();
    phase_ = phase::idle;
    envelope_.helo = to_clean_utf8(received.arguments.substr(0, 255));
    if (received.verb == verb::helo)
        return say("250 " + limits_.hostname);
    say("250-" + limits_.hostname);
    say("250-PIPELINING");
    say("250-SIZE " + std::to_string(limits_.message_bytes));
    say("250-8BITMIME");
    say("250-SMTPUTF8");
    say("250-ENHANCEDSTATUSCODES");
    say("250-CHUNKING");
    if (client_.can_start_tls && !has_tls())
        say("250-STARTTLS");
    if (needs_login() && (has_tls() || client_.logins == login_policy::at_once))
        say("250-AUTH PLAIN LOGIN");
    // RFC 9422
    std::string bounds = "250 LIMITS RCPTMAX=" + std::to_string(limits_.recipients);
    if (limits_.messages > 0 && !client_.is_exempt)
        bounds += " MAILMAX=" + std::to_string(limits_.messages);
    return say(bounds);
}

std::string_view command_machine::missing_login() const
{
    if (!needs_login())
        return {};
    return has_tls() || client_.logins == login_policy::at_once ? replies::needs_login
                                                                : replies::needs_tls;
}

command_step command_machine::handle_auth(std::string_view arguments, std::string_view rest)
{
    if (client_.logins == login_policy::none)
        return say_error(replies::not_served);
    // RFC 4954 4: the client must wait for the reply, or a server that ignores what a pipelining
    // client sends after a failed AUTH could be made to run it without a login.
    if (!rest.empty())
        return close(replies::out_of_turn);
    const auto parsed = parse_auth(arguments);
    if (missing_login() == replies::needs_tls) {
        has_login_in_clear_ = parsed && parsed->response;
        return say_error(replies::needs_tls);
    }
    if (login_)
        return say_error(replies::logged_in_already);
    if (phase_ == phase::no_hello)
        return say_error(replies::say_hello_first);
    if (!parsed)
        return say_error(replies::bad_arguments);
    exchange_ = auth_exchange::begin(parsed->mechanism);
    if (!exchange_)
        return say_error(replies::unknown_mechanism);
    phase_ = phase::exchange;
    return on_exchange(exchange_->start(parsed->response));
}

command_step command_machine::take_response(std::string_view line, std::string_view rest)
{
    if (!rest.empty())
        return close(replies::out_of_turn);
    return on_exchange(exchange_->resume(line));
}

command_step command_machine::on_exchange(auth_exchange::status status)
{
    if (status == auth_exchange::status::challenge)
        return say(exchange_->challenge());
    credentials_ = exchange_->take_credentials();
    end_exchange();
    switch (status) {
    case auth_exchange::status::complete:
        return {kind::log_in, {}, {}};
    case auth_exchange::status::cancelled:
        credentials_ = {};
        return say(replies::cancelled);
    default:
        credentials_ = {};
        return say_error(replies::bad_response);
    }
}

void command_machine::end_exchange()
{
    exchange_.reset();
    if (phase_ == phase::exchange)
        phase_ = phase::idle;
}

command_step command_machine::on_login_result(login_result result)
{
    auto wait = result.wait;
    auto reply = replies::login_unavailable;
    switch (result.status) {
    case login_status::good:
        if (result.fault && result.fault->refuses())
            return play(*result.fault);
        if (result.fault)
            wait = std::max(wait, result.fault->delay);
        login_ = std::move(result.login);
        reply = replies::logged_in;
        break;
    case login_status::bad:
        ++failed_logins_;
        if (failed_logins_ > limits_.failed_logins)
            return close(replies::too_many_failed_logins);
        if (failed_logins_ > 1)
            wait = std::max(wait, limits_.failed_login_delay);
        reply = replies::bad_login;
        break;
    case login_status::too_many_sessions:
        return close(replies::too_many_sessions);
    case login_status::too_many_failures:
        return close(replies::too_many_failed_logins);
    case login_status::unavailable:
        break;
    }
    if (wait.count() == 0)
        return say(reply);
    replies_.reply_later(wait, std::string(reply));
    return {};
}

command_step command_machine::handle_mail(std::string_view arguments, const server_state& server)
{
    if (phase_ == phase::no_hello)
        return say_error(replies::say_hello_first);
    if (has_transaction())
        return say_error(is_in_chunks() ? replies::in_chunks : replies::nested_mail);
    auto sender = parse_path(arguments);
    if (!sender || (!sender->smtp_path.text.empty() && sender->smtp_path.domain.empty()))
        return say_error(replies::bad_sender);
    const auto parameters = parse_mail_parameters(sender->parameters);
    // RFC 4954 5: the identity that AUTH names is of no use to us.
    if (!parameters || (parameters->has_auth && !login_))
        return say_error(replies::bad_parameter);
    if (sender->smtp_path.has_utf8 && !parameters->smtputf8)
        return say_error(replies::needs_smtputf8);
    pending_sender_ = {std::move(sender->smtp_path.text), parameters->size, parameters->smtputf8};
    const auto allowed =
        login_ ? std::min(login_->max_message_bytes, limits_.message_bytes) : limits_.message_bytes;
    if (parameters->size && *parameters->size > allowed)
        return refuse_mail(replies::too_large);
    if (limits_.messages > 0 && !client_.is_exempt && messages_ >= limits_.messages)
        return close(replies::too_many_messages);
    if (server.is_over_rate)
        return refuse_mail(replies::sender_over_rate);
    if (server.is_unavailable)
        return refuse_mail(replies::unavailable);
    if (server.lacks_space(parameters->size))
        return refuse_mail(replies::out_of_memory);

    if (login_)
        return {kind::admit, {}, {}};
    return begin_transaction();
}

// With a login it is known whose inbox does not get the message.
command_step command_machine::refuse_mail(std::string_view reply)
{
    if (login_)
        refused_mail_ = reply;
    return say(reply);
}

command_step command_machine::begin_transaction()
{
    ++messages_;
    phase_ = phase::envelope;
    envelope_.mail_from = std::move(pending_sender_.path);
    envelope_.declared_size = pending_sender_.size;
    envelope_.has_utf8 = pending_sender_.has_utf8;
    if (login_)
        envelope_.login = login_->user;
    return say(replies::sender_ok);
}

command_step command_machine::on_admission_result(const admission_result& result)
{
    const auto output_before = replies_.output().size();
    switch (result.status) {
    case admission_status::admitted:
        if (result.fault && result.fault->refuses())
            return play(*result.fault);
        login_->max_message_bytes = result.max_message_bytes;
        login_->fault_stages = result.fault_stages;
        begin_transaction();
        delay_reply(output_before, result.fault);
        return {};
    case admission_status::ended:
        return close(replies::login_ended);
    case admission_status::over_rate:
        return say(replies::over_rate);
    case admission_status::unavailable:
        break;
    }
    return say(replies::unavailable);
}

command_step command_machine::handle_rcpt(std::string_view arguments)
{
    if (phase_ != phase::envelope)
        return say_error(is_in_chunks() ? replies::in_chunks : replies::need_mail);
    auto path = parse_path(arguments);
    if (!path || path->smtp_path.text.empty())
        return say_error(replies::bad_recipient);
    if (path->parameters.find_first_not_of(' ') != std::string_view::npos)
        return say_error(replies::bad_parameter);
    if (path->smtp_path.has_utf8 && !envelope_.has_utf8)
        return say_error(replies::needs_smtputf8);
    if (limits_.recipients > 0 &&
        envelope_.recipients.size() >= static_cast<std::size_t>(limits_.recipients))
        return say(replies::too_many_recipients);
    pending_recipient_ = std::move(path->smtp_path);
    if (!login_ || login_->fault_stages.has(faults::stage::rcpt))
        return {kind::look_up, {}, {}};
    // Whoever it names, the mail goes to the login's inbox. Nothing is looked up, so neither reply
    // nor time tells whether the recipient exists here.
    recipient_result own(recipient_status::live);
    own.account = login_->account;
    own.inbox = login_->inbox;
    own.max_message_bytes = login_->max_message_bytes;
    own.fault_stages = login_->fault_stages;
    return say(accept(own));
}

command_step command_machine::on_recipient_result(const recipient_result& result)
{
    if (result.fault && result.fault->refuses()) {
        has_refused_recipient_ = true;
        return play(*result.fault);
    }
    const auto output_before = replies_.output().size();
    const auto recipients_before = envelope_.recipients.size();
    const auto step = say_result(result);
    if (step.what == kind::close)
        return step;
    const bool is_refused = envelope_.recipients.size() == recipients_before;
    if (is_refused)
        ++refused_;
    const bool is_one_too_many =
        is_refused && limits_.refused_before_delay > 0 && refused_ >= limits_.refused_before_delay;
    if ((result.is_slowed || is_one_too_many) && !replies_.has_delayed())
        replies_.delay_since(output_before,
                             result.is_slowed ? limits_.unknown_delay : limits_.error_delay);
    delay_reply(output_before, result.fault);
    return step;
}

// In place of the ordinary reply.
command_step command_machine::play(const fault& played)
{
    replies_.play(played);
    return {played.closes() ? kind::close : kind::replied, {}, {}};
}

// For a fault that is a delay alone.
void command_machine::delay_reply(std::size_t output_before, const std::optional<fault>& played)
{
    if (played && played->delay.count() > 0 && !replies_.has_delayed())
        replies_.delay_since(output_before, played->delay);
}

command_step command_machine::say_result(const recipient_result& result)
{
    if (result.status != recipient_status::live)
        has_refused_recipient_ = true;
    switch (result.status) {
    case recipient_status::live:
        return say(accept(result));
    case recipient_status::unknown:
        ++unknown_;
        if (limits_.unknown_before_close > 0 && unknown_ >= limits_.unknown_before_close)
            return close(replies::too_many_unknown);
        if (limits_.unknown_before_delay > 0 && unknown_ >= limits_.unknown_before_delay) {
            replies_.reply_later(limits_.unknown_delay, std::string(replies::unknown_recipient));
            return {};
        }
        return say(replies::unknown_recipient);
    case recipient_status::quarantined:
        return say(replies::unknown_recipient);
    case recipient_status::foreign:
        return say_error(replies::relaying_denied);
    case recipient_status::full:
        return say(replies::mailbox_full);
    case recipient_status::full_for_now:
        return say(replies::mailbox_full_for_now);
    case recipient_status::over_rate:
        return say(replies::over_rate);
    case recipient_status::unavailable:
        break;
    }
    return say(replies::unavailable);
}

// The reply for a live recipient. The first recipient's plan sets the transaction's limit. A
// recipient with another limit is accepted only if the declared size fits both, so that nobody is
// left out after the 250.
std::string_view command_machine::accept(const recipient_result& result)
{
    const auto allowed = std::min(result.max_message_bytes, limits_.message_bytes);
    const auto declared = envelope_.declared_size;
    const bool is_first = envelope_.recipients.empty();
    if (declared && *declared > allowed) {
        has_refused_recipient_ = true;
        return replies::too_large_for_recipient;
    }
    if (!is_first && allowed != allowed_bytes_ && !declared)
        return replies::other_size_limit;
    allowed_bytes_ = is_first ? allowed : std::min(allowed, allowed_bytes_);

    recipient taken;
    taken.account = result.account;
    taken.inbox = result.inbox;
    taken.as_given = pending_recipient_.text;
    taken.domain = pending_recipient_.domain;
    taken.max_message_bytes = allowed;
    taken.fault_stages = result.fault_stages;
    taken.is_watched = result.is_watched;
    envelope_.recipients.push_back(std::move(taken));
    return replies::recipient_ok;
}

command_step command_machine::handle_data(std::string_view arguments, std::string_view rest)
{
    if (phase_ != phase::envelope)
        return say_error(is_in_chunks() ? replies::in_chunks : replies::need_mail);
    if (!arguments.empty())
        return say_error(replies::bad_arguments);
    if (envelope_.recipients.empty())
        return say_error(has_refused_recipient_ ? replies::no_valid_recipients
                                                : replies::need_recipient);
    if (!rest.empty())
        return close(replies::out_of_turn); // RFC 2920 3.1: DATA must be the last of a group
    return {kind::data, {}, {}};
}

command_step command_machine::handle_bdat(std::string_view arguments)
{
    const auto chunk = parse_chunk(arguments);
    if (!chunk)
        return close(replies::bad_arguments); // the end of the chunk cannot be known
    if (const auto reply = missing_login(); !reply.empty())
        return refuse_chunk(*chunk, reply);
    if (!envelope_.recipients.empty())
        return {kind::chunk, *chunk, {}};
    return refuse_chunk(*chunk, has_refused_recipient_ ? replies::no_valid_recipients
                                                       : replies::need_recipient);
}

// The reply follows the octets, which are read all the same (RFC 3030 2).
command_step command_machine::refuse_chunk(const smtp::chunk& chunk, std::string_view refusal)
{
    if (chunk.size > 2 * limits_.message_bytes)
        return close(refusal);
    return {kind::chunk, chunk, refusal};
}

command_step command_machine::handle_starttls(std::string_view arguments, std::string_view& rest)
{
    if (has_tls())
        return say_error(replies::tls_already);
    if (login_)
        return say_error(replies::logged_in_already);
    if (!client_.can_start_tls)
        return say_error(replies::not_served);
    if (!arguments.empty())
        return say_error(replies::bad_arguments);
    if (!rest.empty()) {
        // What was sent in the clear must never pass for what the handshake protects.
        rest = {};
        return close(replies::out_of_turn);
    }
    end_transaction();
    replies_.say(replies::start_tls);
    return {kind::start_tls, {}, {}};
}

void command_machine::tls_started(std::string protocol)
{
    // RFC 3207 4.2: what was learned before the handshake is discarded.
    phase_ = phase::no_hello;
    envelope_ = {};
    envelope_.tls = std::move(protocol);
}

command_step command_machine::handle_rset(std::string_view arguments)
{
    if (!arguments.empty())
        return say_error(replies::bad_arguments);
    end_transaction();
    return say(replies::ok);
}

envelope command_machine::end_transaction()
{
    auto ended = std::exchange(envelope_, {});
    envelope_.helo = ended.helo;
    envelope_.tls = ended.tls;
    has_refused_recipient_ = false;
    if (has_transaction())
        phase_ = phase::idle;
    return ended;
}

command_step command_machine::say(std::string_view reply)
{
    replies_.say(reply);
    return {};
}

command_step command_machine::say_error(std::string_view reply)
{
    return {replies_.say_error(reply) ? kind::replied : kind::close, {}, {}};
}

command_step command_machine::close(std::string_view reply)
{
    replies_.say(reply);
    return {kind::close, {}, {}};
}

} // namespace tempinbox::smtp
