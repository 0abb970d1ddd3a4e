#pragma once

#include "common/core/text.hpp"
#include "fuzz/require.hpp"
#include "mail-ingest/smtp/session_machine.hpp"

#include <sanitizer/allocator_interface.h>

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::fuzz {

// Runs one session machine and does the actions it returns: answers recipients by their first
// letter, messages by their first byte and logins by their user, keeps a transcript, and aborts if
// the machine breaks an invariant.
class smtp_host
{
public:
    smtp_host(const smtp::limits& bounds, smtp::session_machine::client who)
        : limits_(bounds),
          who_(who),
          machine_(limits_, who, now_)
    {}

    void greet()
    {
        machine_.greet();
        run();
    }
    void write(std::string_view bytes, std::size_t max_piece_bytes)
    {
        while (!bytes.empty() && !is_closed_) {
            // A buffer of its own that is freed afterwards, as the session's is.
            const std::string piece(bytes.substr(0, max_piece_bytes));
            received_ += piece.size();
            machine_.receive(piece, now_);
            run();
            bytes.remove_prefix(piece.size());
        }
    }
    void pass(std::chrono::milliseconds time)
    {
        if (is_closed_)
            return;
        now_ += time;
        machine_.expire(now_);
        run();
    }
    void hang_up()
    {
        if (!is_closed_)
            return;
        const auto before = events_;
        machine_.receive("EHLO x\r\nMAIL FROM:<a@b.test>\r\n", now_);
        require(machine_.next().what == smtp::action::kind::close, "a closed session stays closed");
        require(machine_.output().empty() && events_ == before,
                "a closed session says and does nothing more");
    }
    void run()
    {
        // Every byte causes a bounded number of steps.
        for (std::size_t step = 0;; ++step) {
            require(step < 64 + 16 * (received_ + 1),
                    "a dialogue waits for its client sooner or later");
            const auto next_action = machine_.next();
            if (!take(next_action))
                break;
        }
        require(heap_since_start() < 128 * 1024 + 64 * received_,
                "a session's memory is bounded by what was received");
    }

    smtp::session_machine& session_machine() { return machine_; }
    // How replies are batched into writes depends on how the input was split, so they are kept
    // apart from the actions.
    const std::string& replies() const { return replies_; }
    const std::string& events() const { return events_; }

private:
    bool take(const smtp::action& next_action)
    {
        require(!is_closed_ || next_action.what == smtp::action::kind::close,
                "nothing happens after the close");
        switch (next_action.what) {
        case smtp::action::kind::read:
            take_output();
            return false;
        case smtp::action::kind::close:
            take_output();
            if (!is_closed_)
                note(events_, "close");
            is_closed_ = true;
            return false;
        case smtp::action::kind::delay:
            take_output();
            require(next_action.wait.count() > 0, "a delay is one");
            note(events_, "delay");
            machine_.on_delay_end(now_);
            break;
        case smtp::action::kind::meet_fault:
            require(machine_.transaction().may_meet_fault(faults::stage::data),
                    "only inboxes that may play a fault are asked");
            machine_.on_fault_result(next_fault());
            break;
        case smtp::action::kind::look_up:
            machine_.on_recipient_result(machine_.login() ? own_recipient()
                                                          : find(machine_.pending_recipient()));
            break;
        case smtp::action::kind::log_in:
            check_login(machine_.take_credentials());
            break;
        case smtp::action::kind::admit: {
            require(machine_.login().has_value(), "a login that may send is one");
            const auto choice = ++admissions_ % 4;
            smtp::admission_result result{choice == 0 ? smtp::admission_status::over_rate
                                                      : smtp::admission_status::admitted,
                                          1'000'000,
                                          all_stages_,
                                          {}};
            if (choice == 1)
                result.fault = next_fault();
            machine_.on_admission_result(result);
            break;
        }
        case smtp::action::kind::begin:
            require(who_.logins == smtp::login_policy::none || machine_.login(),
                    "nothing is taken without a login where one is needed");
            require(!message_, "a message begins where the one before was stored or dropped");
            require(!machine_.transaction().recipients.empty(), "a message has recipients");
            message_ = "";
            break;
        case smtp::action::kind::append:
            require(message_.has_value(), "bytes belong to a message that began");
            message_->append(next_action.bytes);
            require(message_->size() <= limits_.message_bytes,
                    "a message that is too large is not handed over");
            break;
        case smtp::action::kind::drop:
            message_.reset();
            note(events_, "drop");
            break;
        case smtp::action::kind::finish:
            store();
            break;
        case smtp::action::kind::start_tls:
            take_output();
            note(events_, "tls");
            has_tls_ = true;
            require(!message_, "nothing of a message outlives the handshake");
            machine_.tls_started("TLSv1.3", now_);
            break;
        }
        return true;
    }

    // RFC 4954, RFC 4616
    void check_login(const smtp::credentials& given)
    {
        require(who_.logins != smtp::login_policy::none, "logins are taken where there are any");
        require(who_.logins == smtp::login_policy::at_once || has_tls_,
                "credentials are not looked at before TLS");
        require(!machine_.login(), "nobody logs in twice");
        const auto total = given.user.size() + given.password.size() + given.acts_as.size();
        require(total <= limits_.command_line * 2, "credentials are of bounded length");
        for (const auto* part : {&given.user, &given.password, &given.acts_as}) {
            require(part->find('\0') == std::string::npos,
                    "no part of credentials has a zero byte");
            require(is_valid_utf8(*part), "credentials are UTF-8");
        }
        const bool is_own = given.user.starts_with('g');
        note(events_, "login " + given.user);
        smtp::login_result result(is_own ? smtp::login_status::good : smtp::login_status::bad);
        if (given.user.starts_with('n'))
            result.status = smtp::login_status::unavailable;
        if (given.user.starts_with('m'))
            result.status = smtp::login_status::too_many_sessions;
        if (is_own)
            result.login = smtp::login{given.user, "digest", account_, inbox_, 1'000'000};
        machine_.on_login_result(std::move(result), now_);
    }

    // One kind of fault after the other, and none.
    std::optional<smtp::fault> next_fault()
    {
        smtp::fault played;
        switch (++faults_ % 6) {
        case 0:
            return std::nullopt;
        case 1:
            played.delay = std::chrono::seconds(1);
            break;
        case 2:
            played.is_cut = true;
            break;
        case 3:
            played.reply = "421 4.7.0 On purpose";
            break;
        case 4:
            played.delay = std::chrono::seconds(1);
            [[fallthrough]];
        default:
            played.reply = "451 4.7.1 On purpose";
        }
        return played;
    }

    smtp::recipient_result own_recipient()
    {
        smtp::recipient_result own(smtp::recipient_status::live);
        own.account = account_;
        own.inbox = inbox_;
        own.max_message_bytes = 1'000'000;
        own.fault_stages = all_stages_;
        own.fault = next_fault();
        return own;
    }

    smtp::recipient_result find(const smtp::smtp_path& recipient)
    {
        require(!recipient.text.empty() && recipient.text.size() <= 256,
                "only addresses of bounded length are looked up");
        require_clean(recipient.text, "an address that is looked up is UTF-8");
        smtp::recipient_result result(smtp::recipient_status::live);
        result.max_message_bytes = 1'000'000;
        if (!recipient.domain.empty() && recipient.domain != "in.test")
            return smtp::recipient_result(smtp::recipient_status::foreign);
        switch (recipient.local.empty() ? 'u' : recipient.local.front()) { // `""@in.test`
        case 'u':
            return smtp::recipient_result(smtp::recipient_status::unknown);
        case 'q':
            return smtp::recipient_result(smtp::recipient_status::quarantined);
        case 'f':
            return smtp::recipient_result(smtp::recipient_status::full);
        case 'o':
            return smtp::recipient_result(smtp::recipient_status::full_for_now);
        case 'r':
            return smtp::recipient_result(smtp::recipient_status::over_rate);
        case 'n':
            return smtp::recipient_result(smtp::recipient_status::unavailable);
        case 's':
            result.max_message_bytes = 64;
            break;
        case 'w':
            result.is_slowed = true;
            break;
        case 'x':
            result.fault_stages = all_stages_;
            result.fault = next_fault();
            break;
        default:
            break;
        }
        return result;
    }

    void store()
    {
        require(message_.has_value(), "a message that is stored began");
        const auto& envelope = machine_.transaction();
        require(!envelope.recipients.empty(), "a message that is stored has recipients");
        require(envelope.login.has_value() == (who_.logins != smtp::login_policy::none),
                "a message names its login, where there are any");
        if (envelope.login)
            for (const auto& one : envelope.recipients)
                require(one.inbox == inbox_ && one.account == account_,
                        "what a login sends is for its own inbox");
        require(limits_.recipients == 0 ||
                    envelope.recipients.size() <= static_cast<std::size_t>(limits_.recipients),
                "no more recipients than allowed");
        for (const auto& one : envelope.recipients)
            require(message_->size() <= one.max_message_bytes,
                    "no recipient gets more than its plan allows");
        require_clean(envelope.helo, "the client's name is clean");
        if (!limits_.takes_bare_newlines)
            require_whole_lines(*message_);
        const auto statuses = {smtp::message_status::stored,       smtp::message_status::stored,
                               smtp::message_status::gone,         smtp::message_status::full,
                               smtp::message_status::full_for_now, smtp::message_status::looping,
                               smtp::message_status::too_large,    smtp::message_status::overloaded,
                               smtp::message_status::unavailable,  smtp::message_status::fault};
        const auto choice = message_->empty()
                                ? 0U
                                : static_cast<unsigned char>(message_->front()) % statuses.size();
        smtp::message_result result(*(statuses.begin() + choice));
        result.id = "id";
        if (result.status == smtp::message_status::stored)
            result.fault = next_fault();
        if (result.fault && result.fault->refuses())
            result.status = smtp::message_status::fault;
        if (result.status == smtp::message_status::fault && !result.fault)
            result.fault = smtp::fault{"552 5.2.2 On purpose", false, false, {}};
        note(events_, "store " + std::to_string(message_->size()) + ":" + *message_);
        message_.reset();
        machine_.on_message_result(result, now_);
        require(machine_.take_ending().has_value(), "every message ends once");
    }

    // RFC 5321 2.3.8
    static void require_whole_lines(std::string_view message)
    {
        for (std::size_t at = 0; at < message.size(); ++at) {
            require(message[at] != '\n' || (at > 0 && message[at - 1] == '\r'),
                    "no bare LF is stored where it is refused");
            require(message[at] != '\r' || (at + 1 < message.size() && message[at + 1] == '\n'),
                    "no bare CR is stored where it is refused");
        }
    }

    // RFC 5321 4.2 and 4.5.3.1.5
    void take_output()
    {
        std::string_view rest = machine_.output();
        std::string_view code;
        while (!rest.empty()) {
            const auto end = rest.find("\r\n");
            require(end != std::string_view::npos && end <= 510,
                    "a reply line ends in CRLF and is short");
            const auto line = rest.substr(0, end);
            // RFC 4954 4: the challenge of `AUTH PLAIN` has no text.
            require((line.size() > 4 || line == "334 ") && line[0] >= '2' && line[0] <= '5' &&
                        line[1] >= '0' && line[1] <= '5' && line[2] >= '0' && line[2] <= '9' &&
                        (line[3] == ' ' || line[3] == '-'),
                    "a reply line begins with a code");
            require(code.empty() || code == line.substr(0, 3),
                    "the lines of a reply have one code");
            for (const char c : line)
                require(c >= 0x20 && c < 0x7f, "replies are ASCII text");
            code = line[3] == '-' ? line.substr(0, 3) : std::string_view{};
            note(replies_, line);
            rest.remove_prefix(end + 2);
        }
        require(code.empty(), "a reply has a last line");
        machine_.clear_output();
    }

    static void note(std::string& transcript, std::string_view what)
    {
        transcript += what;
        transcript += '\n';
    }

    // Without what this host itself keeps.
    std::size_t heap_since_start() const
    {
        const auto now = __sanitizer_get_current_allocated_bytes();
        const auto own = heap_at_start_ + replies_.capacity() + events_.capacity() +
                         (message_ ? message_->capacity() : 0);
        return now > own ? now - own : 0;
    }

    std::size_t heap_at_start_ = __sanitizer_get_current_allocated_bytes();
    const account_id account_ = account_id::make();
    const inbox_id inbox_ = inbox_id::make();
    smtp::limits limits_;
    const smtp::session_machine::client who_;
    smtp::session_machine::time_point now_{std::chrono::hours(1)};
    smtp::session_machine machine_;
    std::optional<std::string> message_;
    std::string replies_;
    std::string events_;
    std::size_t received_ = 0;
    bool is_closed_ = false;
    bool has_tls_ = false;
    unsigned admissions_ = 0;
    unsigned faults_ = 0;
    const faults::stage_set all_stages_{0x1f};
};

} // namespace tempinbox::fuzz
