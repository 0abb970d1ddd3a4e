#pragma once

#include "mail-ingest/smtp/dialogue.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tempinbox::testing {

// A dialogue with a client that is played by the test: feeds what it says, plays the directory and
// the store, keeps the replies and the messages.
class conversation
{
public:
    explicit conversation(smtp::limits bounds = {}, smtp::dialogue::client who = {})
        : limits_(std::move(bounds)),
          dialogue_(limits_, who, now_)
    {
        limits_.hostname = "mx.test";
        for (const char* name : {"box", "other", "postmaster"})
            add_live(std::string(name) + "@in.test", 25 * 1024 * 1024);
    }

    void add_live(const std::string& address, std::uint64_t largest_message)
    {
        smtp::recipient_answer answer(smtp::recipient_status::live);
        answer.account = account_id::make();
        answer.inbox = inbox_id::make();
        answer.largest_message = largest_message;
        known_[address] = answer;
    }
    void set(const std::string& address, smtp::recipient_status status)
    {
        known_[address] = smtp::recipient_answer(status);
    }
    void slow(const std::string& address) { known_[address].is_slowed = true; }

    // Everything answered to these bytes, with `|` between lines and `[2000]` for a pause of that
    // many milliseconds.
    std::string raw(std::string_view bytes)
    {
        now_ += std::chrono::milliseconds(1);
        const std::string copy(bytes); // the view must not outlive the call
        dialogue_.receive(copy, now_);
        return run();
    }
    std::string say(const std::string& line) { return raw(line + "\r\n"); }
    std::string greet()
    {
        dialogue_.greet();
        return run();
    }
    // From the greeting to where MAIL can be said.
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
    std::string pass(std::chrono::milliseconds time)
    {
        now_ += time;
        dialogue_.expire(now_);
        return run();
    }
    std::string run()
    {
        std::string answer;
        for (;;) {
            const auto wanted = dialogue_.next();
            switch (wanted.what) {
            case smtp::action::kind::read:
                return answer + take_output();
            case smtp::action::kind::close:
                is_closed_ = true;
                return answer + take_output();
            case smtp::action::kind::delay:
                answer += take_output() +
                          (answer.empty() && dialogue_.output().empty() ? "" : "|") + "[" +
                          std::to_string(wanted.wait.count()) + "]";
                break;
            case smtp::action::kind::look_up: {
                ++look_ups_;
                const auto name = smtp::inbox_name(dialogue_.wanted().local);
                const auto found = known_.find(
                    name.value_or("-") + "@" +
                    (dialogue_.wanted().domain.empty() ? "in.test" : dialogue_.wanted().domain));
                auto status =
                    dialogue_.wanted().domain == "in.test" || dialogue_.wanted().domain.empty()
                        ? smtp::recipient_status::unknown
                        : smtp::recipient_status::foreign;
                dialogue_.answer_recipient(found == known_.end() ? smtp::recipient_answer(status)
                                                                 : found->second);
                break;
            }
            case smtp::action::kind::begin:
                message_ = "";
                break;
            case smtp::action::kind::append:
                message_->append(wanted.bytes);
                break;
            case smtp::action::kind::drop:
                message_.reset();
                break;
            case smtp::action::kind::finish: {
                stored_.push_back(message_.value());
                message_.reset();
                envelopes_.push_back(dialogue_.transaction());
                smtp::message_answer outcome(outcome_);
                outcome.id = "id-" + std::to_string(stored_.size());
                dialogue_.answer_message(outcome, now_);
                break;
            }
            case smtp::action::kind::start_tls:
                answer += take_output() + "|[tls]";
                dialogue_.tls_started("TLSv1.3", now_);
                break;
            }
        }
    }

    smtp::dialogue& dialogue() { return dialogue_; }
    smtp::limits& limits() { return limits_; }
    const std::vector<std::string>& stored() const { return stored_; }
    const std::vector<smtp::envelope>& envelopes() const { return envelopes_; }
    bool is_closed() const { return is_closed_; }
    bool is_confirmed() const { return dialogue_.is_confirmed(); }
    // Whether bytes of a message are held that was neither stored nor dropped.
    bool is_in_message() const { return message_.has_value(); }
    int look_ups() const { return look_ups_; }
    void set_outcome(smtp::message_status outcome) { outcome_ = outcome; }

private:
    std::string take_output()
    {
        std::string lines;
        for (std::size_t at = 0; at < dialogue_.output().size();) {
            const auto end = dialogue_.output().find("\r\n", at);
            lines += (lines.empty() ? "" : "|") + dialogue_.output().substr(at, end - at);
            at = end + 2;
        }
        dialogue_.clear_output();
        return lines;
    }

    smtp::limits limits_;
    smtp::dialogue::time_point now_{std::chrono::hours(1)};
    smtp::dialogue dialogue_;
    std::map<std::string, smtp::recipient_answer> known_;
    smtp::message_status outcome_ = smtp::message_status::stored;
    std::optional<std::string> message_;
    std::vector<std::string> stored_;
    std::vector<smtp::envelope> envelopes_;
    bool is_closed_ = false;
    int look_ups_ = 0;
};

} // namespace tempinbox::testing
