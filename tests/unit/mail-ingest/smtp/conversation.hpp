#pragma once

#include "common/core/encoding.hpp"
#include "mail-ingest/smtp/session_machine.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tempinbox::testing {

// A session machine with a client that the test plays: feeds it bytes, plays recipient resolver and
// store, keeps the replies and the messages.
class conversation
{
public:
    explicit conversation(smtp::limits bounds = {}, smtp::session_machine::client who = {})
        : limits_(std::move(bounds)),
          machine_(limits_, who, now_)
    {
        limits_.hostname = "mx.test";
        for (const char* name : {"box", "other", "postmaster"})
            add_live(std::string(name) + "@in.test", 25 * 1024 * 1024);
    }

    void add_live(const std::string& address, std::uint64_t max_message_bytes)
    {
        smtp::recipient_result result(smtp::recipient_status::live);
        result.account = account_id::make();
        result.inbox = inbox_id::make();
        result.max_message_bytes = max_message_bytes;
        recipients_[address] = result;
    }
    void set(const std::string& address, smtp::recipient_status status)
    {
        recipients_[address] = smtp::recipient_result(status);
    }
    // What the inbox of the address plays at RCPT, and at which other stages it may play something.
    void set_fault(const std::string& address, const std::optional<smtp::fault>& played)
    {
        recipients_[address].fault = played;
    }
    void set_fault_stages(const std::string& address, faults::stage_set stages)
    {
        recipients_[address].fault_stages = stages;
    }
    void slow(const std::string& address) { recipients_[address].is_slowed = true; }

    // Everything replied to these bytes, with `|` between lines and `[2000]` for a pause of that
    // many milliseconds.
    std::string raw(std::string_view bytes)
    {
        now_ += std::chrono::milliseconds(1);
        const std::string copy(bytes); // the view must not outlive the call
        machine_.receive(copy, now_);
        return run();
    }
    std::string say(const std::string& line) { return raw(line + "\r\n"); }
    std::string greet()
    {
        machine_.greet();
        return run();
    }
    // Says everything from the greeting to where MAIL can be said.
    conversation& hello()
    {
        greet();
        say("EHLO client.test");
        return *this;
    }
    conversation& mail()
    {
        hello();
        say("MAIL FROM:<a@b.test>");
        return *this;
    }
    conversation& rcpt()
    {
        mail();
        say("RCPT TO:<box@in.test>");
        return *this;
    }
    // Says everything up to a login, on a port that takes them.
    conversation& log_in()
    {
        hello();
        say("AUTH PLAIN " + to_base64(std::string("\0cap_own\0tic_good", 17)));
        return *this;
    }
    void start_tls() { machine_.tls_started("TLSv1.3", now_); }
    std::string pass(std::chrono::milliseconds time)
    {
        now_ += time;
        machine_.expire(now_);
        return run();
    }
    std::string run()
    {
        std::string result;
        for (;;) {
            const auto next_action = machine_.next();
            switch (next_action.what) {
            case smtp::action::kind::read:
                return result + take_output();
            case smtp::action::kind::close:
                is_closed_ = true;
                return result + take_output();
            case smtp::action::kind::delay:
                result += take_output() + (result.empty() && machine_.output().empty() ? "" : "|") +
                          "[" + std::to_string(next_action.wait.count()) + "]";
                is_holding_in_delay_ |= message_.has_value();
                if (delays_take_time_)
                    now_ += next_action.wait;
                machine_.on_delay_end(now_);
                break;
            case smtp::action::kind::meet_fault:
                ++data_faults_asked_;
                machine_.on_fault_result(data_fault_);
                break;
            case smtp::action::kind::look_up: {
                ++look_ups_;
                if (machine_.login()) {
                    auto own = login_recipient_;
                    own.account = own_login.account;
                    own.inbox = own_login.inbox;
                    own.max_message_bytes = own_login.max_message_bytes;
                    machine_.on_recipient_result(own);
                    break;
                }
                const auto name = smtp::inbox_name(machine_.pending_recipient().local);
                const auto found = recipients_.find(name.value_or("-") + "@" +
                                                    (machine_.pending_recipient().domain.empty()
                                                         ? "in.test"
                                                         : machine_.pending_recipient().domain));
                auto status = machine_.pending_recipient().domain == "in.test" ||
                                      machine_.pending_recipient().domain.empty()
                                  ? smtp::recipient_status::unknown
                                  : smtp::recipient_status::foreign;
                machine_.on_recipient_result(
                    found == recipients_.end() ? smtp::recipient_result(status) : found->second);
                break;
            }
            case smtp::action::kind::log_in: {
                logins_.push_back(machine_.take_credentials());
                const auto& given = logins_.back();
                auto outcome = login_result_;
                if (given.user != own_login.user || given.password != "tic_good")
                    outcome.status = smtp::login_status::bad;
                if (outcome.status == smtp::login_status::good)
                    outcome.login = own_login;
                machine_.on_login_result(std::move(outcome), now_);
                break;
            }
            case smtp::action::kind::admit:
                ++admissions_;
                machine_.on_admission_result(admission_);
                break;
            case smtp::action::kind::begin:
                message_ = "";
                break;
            case smtp::action::kind::append:
                message_->append(next_action.bytes);
                break;
            case smtp::action::kind::drop:
                message_.reset();
                break;
            case smtp::action::kind::finish: {
                if (message_status_ != smtp::message_status::fault) {
                    stored_.push_back(message_.value());
                    envelopes_.push_back(machine_.transaction());
                }
                message_.reset();
                smtp::message_result outcome(message_status_);
                outcome.id = "id-" + std::to_string(stored_.size());
                outcome.fault = message_fault_;
                machine_.on_message_result(outcome, now_);
                break;
            }
            case smtp::action::kind::start_tls:
                result += take_output() + "|[tls]";
                machine_.tls_started("TLSv1.3", now_);
                break;
            }
        }
    }

    smtp::session_machine& session_machine() { return machine_; }
    smtp::limits& limits() { return limits_; }
    const std::vector<std::string>& stored() const { return stored_; }
    const std::vector<smtp::envelope>& envelopes() const { return envelopes_; }
    bool is_closed() const { return is_closed_; }
    bool is_acknowledged() const { return machine_.is_acknowledged(); }
    // Whether bytes of a message are held that was neither stored nor dropped.
    bool is_in_message() const { return message_.has_value(); }
    int look_ups() const { return look_ups_; }
    int admissions() const { return admissions_; }
    // What clients gave, in order.
    const std::vector<smtp::credentials>& logins() const { return logins_; }
    // For a good password; another one is always bad.
    void set_login_result(const smtp::login_result& result) { login_result_ = result; }
    void set_admission(smtp::admission_status status, std::uint64_t max_message_bytes = 0)
    {
        admission_ = {status, max_message_bytes, {}, {}};
    }

    const smtp::login own_login{"cap_own", "digest", account_id::make(), inbox_id::make(),
                                10 * 1024 * 1024};
    void set_message_status(smtp::message_status outcome) { message_status_ = outcome; }
    void set_data_fault(const std::optional<smtp::fault>& played) { data_fault_ = played; }
    void set_message_fault(const std::optional<smtp::fault>& played)
    {
        message_fault_ = played;
        message_status_ = played && played->refuses() ? smtp::message_status::fault
                                                      : smtp::message_status::stored;
    }
    // What the login's inbox plays at RCPT, and at MAIL.
    void set_login_fault(const std::optional<smtp::fault>& played)
    {
        login_recipient_.fault = played;
    }
    void set_admission(const smtp::admission_result& result) { admission_ = result; }
    // Otherwise the clock stands still during delays.
    void let_delays_take_time() { delays_take_time_ = true; }
    int data_faults_asked() const { return data_faults_asked_; }
    // Whether bytes of a message were held while the session waited.
    bool is_holding_in_delay() const { return is_holding_in_delay_; }

private:
    std::string take_output()
    {
        std::string lines;
        for (std::size_t at = 0; at < machine_.output().size();) {
            const auto end = machine_.output().find("\r\n", at);
            lines += (lines.empty() ? "" : "|") + machine_.output().substr(at, end - at);
            at = end + 2;
        }
        machine_.clear_output();
        return lines;
    }

    smtp::limits limits_;
    smtp::session_machine::time_point now_{std::chrono::hours(1)};
    smtp::session_machine machine_;
    std::map<std::string, smtp::recipient_result> recipients_;
    smtp::message_status message_status_ = smtp::message_status::stored;
    std::optional<std::string> message_;
    std::vector<std::string> stored_;
    std::vector<smtp::envelope> envelopes_;
    std::optional<smtp::fault> data_fault_;
    std::optional<smtp::fault> message_fault_;
    smtp::recipient_result login_recipient_ = smtp::recipient_result(smtp::recipient_status::live);
    bool is_closed_ = false;
    bool is_holding_in_delay_ = false;
    bool delays_take_time_ = false;
    int data_faults_asked_ = 0;
    int look_ups_ = 0;
    int admissions_ = 0;
    std::vector<smtp::credentials> logins_;
    smtp::login_result login_result_{smtp::login_status::good, {}, {}, {}};
    smtp::admission_result admission_{smtp::admission_status::admitted, 10 * 1024 * 1024, {}, {}};
};

} // namespace tempinbox::testing
