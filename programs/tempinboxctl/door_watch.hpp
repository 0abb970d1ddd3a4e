#pragma once

#include "common/core/network.hpp"
#include "common/kafka/consumer.hpp"
#include "tempinboxctl/api_client.hpp"
#include "tempinboxctl/door_comparison.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/smoke_receiver.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace tempinbox::ctl {

struct door_request
{
    api_settings api;
    std::optional<host_port> receiver; // where webhooks come in; absent: that door is left out
    std::chrono::seconds time{60};     // in which events are compared
    std::chrono::seconds settling{60}; // in which the last of them may come
};

// Watches an account's events at every door at once, then compares what came: the topics in Kafka,
// a webhook of its own, the feed and the emails that the API lists. Goes on while services are
// away; it deletes its webhook in any case. Only the events of other programs are seen: it makes
// none.
class door_watch
{
public:
    door_watch(session& suite, door_request request);

    awaitable<result<door_findings>> run();

private:
    awaitable<result<void>> open();
    awaitable<result<void>> open_topics();
    awaitable<result<void>> open_webhook();
    awaitable<result<door_findings>> watch();
    awaitable<result<void>> read_feed();
    awaitable<result<void>> list_emails();
    awaitable<void> close();
    awaitable<void> pause(std::chrono::milliseconds time);
    bool is_full() const;
    std::vector<const door*> doors() const;
    void take_record(const kafka::record& read);

    session& suite_;
    const door_request request_;
    api_client api_;
    door topics_{"topics", door::shows::at_least_once};
    door webhook_{"webhook", door::shows::at_least_once};
    door feed_{"feed", door::shows::once};
    door emails_{"emails", door::shows::mail_now};
    std::string account_;
    std::string cursor_;
    std::string webhook_id_;
    time_point from_{}, until_{};
    std::optional<smoke_receiver> receiver_;
    std::unique_ptr<kafka::broadcast_reader> reader_;
};

} // namespace tempinbox::ctl
