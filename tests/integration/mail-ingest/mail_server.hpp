#pragma once

#include "common/core/encoding.hpp"
#include "common/events/events.hpp"
#include "integration/common/postgres/held_lock.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mail-ingest/core.hpp"
#include "mailbox/email_repository.hpp"
#include "unit/common/scratch_folder.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include <pqxx/pqxx>

namespace tempinbox::testing {

// A clock with a settable offset from the true time.
class shifted_clock final : public clock_source
{
public:
    time_point now() const override { return system_.now() + ahead_; }
    void set_ahead(std::chrono::microseconds by) { ahead_ = by; }

private:
    system_clock_source system_;
    std::chrono::microseconds ahead_{0};
};

// The core of a mail-ingest process on a database, with a clock that tests set; its broker is
// unreachable, so events stay in the outbox.
struct mail_server
{
    explicit mail_server(const std::string& dsn,
                         mail_ingest::recipient_settings recipient_settings = {},
                         smtp::limits bounds = {},
                         mail_ingest::ingest_settings ingest_settings = {},
                         smtp::client_limits limiter_bounds = {}, smtp::proxy_settings proxy = {},
                         smtp::submission_settings submission = {})
        : chosen(settings_of(dsn, std::move(recipient_settings), std::move(bounds),
                             with_own_folder(std::move(ingest_settings)), std::move(limiter_bounds),
                             std::move(proxy), std::move(submission))),
          core(test_host(), chosen, clock, "test")
    {
        unacknowledged.start();
        core.recorders.start();
        clock_watch.start();
        core.faults.start();
        core.submission.start();
        listener.start();
    }
    ~mail_server()
    {
        await(listener.drain(std::chrono::seconds(5)));
        await(unacknowledged.stop());
        await(core.recorders.stop());
        await(clock_watch.stop());
        await(core.submission.stop());
        await(core.faults.stop());
    }

    static mail_ingest::settings settings_of(const std::string& dsn,
                                             mail_ingest::recipient_settings recipients,
                                             smtp::limits session,
                                             mail_ingest::ingest_settings ingest,
                                             smtp::client_limits limits, smtp::proxy_settings proxy,
                                             smtp::submission_settings submission)
    {
        mail_ingest::settings chosen;
        chosen.database.dsn = dsn;
        chosen.database.connections = 3;
        chosen.look_up_connections = 3;
        chosen.kafka.brokers = "127.0.0.1:1";
        chosen.smtp_listen = {host_port("127.0.0.1", 0)};
        chosen.proxy = std::move(proxy);
        chosen.submission = std::move(submission);
        chosen.session = std::move(session);
        chosen.client_limits = std::move(limits);
        chosen.recipients = std::move(recipients);
        chosen.ingest = std::move(ingest);
        return chosen;
    }
    mail_ingest::ingest_settings with_own_folder(mail_ingest::ingest_settings chosen_ingest) const
    {
        if (chosen_ingest.spool_directory == mail_ingest::ingest_settings().spool_directory)
            chosen_ingest.spool_directory = folder.file("spool");
        return chosen_ingest;
    }

    scratch_folder folder;
    mail_ingest::settings chosen;
    shifted_clock clock;
    mail_ingest::core core;

    postgres::pool& db = core.db;
    postgres::pool& look_up_db = core.look_up_db;
    mail_ingest::unacknowledged_mail& unacknowledged = core.unacknowledged;
    mail_ingest::rejection_recorder& rejections = core.recorders.rejections;
    mail_ingest::recipients& recipients = core.recipients;
    mail_ingest::ingest& ingest = core.ingest;
    postgres::clock_watch& clock_watch = core.storage_watch.clock;
    smtp::listener& listener = core.listener;
};

inline kafka::record record_of(const char* topic, const google::protobuf::Message& value)
{
    kafka::record record;
    record.topic = topic;
    record.value = value.SerializeAsString();
    return record;
}

inline kafka::record account_record(const plans::account_state& state)
{
    auto record = record_of(events::topics::account_state, plans::to_proto(state));
    record.key = state.account.text();
    return record;
}

// A value of /metrics; 0 if it is not there yet.
inline double shown_metric(const std::string& name)
{
    const auto text = "\n" + test_host().metrics().text();
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 2));
}

// A client on the test's own thread: the server's loop runs while it waits for a reply.
class mail_client
{
public:
    // `from`: the client's own address.
    explicit mail_client(const host_port& server, const char* from = "127.0.0.1")
        : socket_(context_)
    {
        using boost::asio::ip::tcp;
        socket_.open(tcp::v4());
        socket_.bind(tcp::endpoint(boost::asio::ip::make_address(from), 0));
        socket_.connect(tcp::endpoint(boost::asio::ip::make_address(server.host), server.port));
        socket_.non_blocking(true);
    }

    // The last line of the next reply; empty if the connection ended instead.
    std::string reply()
    {
        std::string last;
        const bool came =
            eventually([&] { return take_reply(last) || is_ended_; }, std::chrono::seconds(30));
        if (!came)
            throw std::runtime_error("no reply to an SMTP command");
        return last;
    }
    std::string say(const std::string& line)
    {
        send(line + "\r\n");
        return reply();
    }
    void send(std::string_view bytes)
    {
        const bool is_sent = eventually(
            [&] {
                boost::system::error_code error;
                bytes.remove_prefix(
                    socket_.write_some(boost::asio::buffer(bytes.data(), bytes.size()), error));
                return bytes.empty();
            },
            std::chrono::seconds(30));
        if (!is_sent)
            throw std::runtime_error("the server does not read");
    }
    // Says everything from the greeting to the reply to AUTH.
    std::string log_in(const std::string& user, const std::string& password)
    {
        reply();
        say("EHLO client.test");
        return say("AUTH PLAIN " + to_base64('\0' + user + '\0' + password));
    }
    // Says everything from the greeting to the last RCPT.
    mail_client& begin(const std::vector<std::string>& recipients)
    {
        reply();
        say("EHLO client.test");
        say("MAIL FROM:<ann@sender.test>");
        for (const auto& recipient : recipients)
            say("RCPT TO:<" + recipient + ">");
        return *this;
    }
    std::string deliver(const std::string& message = "Subject: hi\r\n\r\nhello\r\n")
    {
        auto started = say("DATA");
        if (!started.starts_with("354"))
            return started;
        send(message);
        return say(".");
    }
    // Sends no more, and still reads.
    void end_output() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
    bool has_ended()
    {
        return eventually([this] {
            std::string ignored;
            take_reply(ignored);
            return is_ended_;
        });
    }

private:
    bool take_reply(std::string& last)
    {
        std::array<char, 4096> buffer;
        boost::system::error_code error;
        const auto count = socket_.read_some(boost::asio::buffer(buffer), error);
        received_.append(buffer.data(), count);
        is_ended_ = error && error != boost::asio::error::would_block;
        for (auto end = received_.find("\r\n"); end != std::string::npos;
             end = received_.find("\r\n")) {
            last = received_.substr(0, end);
            received_.erase(0, end + 2);
            if (last.size() < 4 || last[3] != '-')
                return true;
        }
        return false;
    }

    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_;
    std::string received_;
    bool is_ended_ = false;
};

inline std::string queued_id(const std::string& reply)
{
    return reply.substr(reply.rfind(' ') + 1);
}

} // namespace tempinbox::testing
