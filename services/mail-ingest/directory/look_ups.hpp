#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/wait_point.hpp"
#include "mailbox/address_store.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tempinbox::mail_ingest {

// Asks the database for addresses: those that gather while one question is under way are the next. Nobody joins a question that
// was already asked, since an inbox made meanwhile must be found.
class look_ups
{
public:
    struct answer
    {
        bool is_known = false; // else the database did not answer in time
        std::optional<mailbox::known_address> found;
    };

    look_ups(runtime::host& host, mailbox::address_store& store, std::chrono::milliseconds patience);

    awaitable<answer> find(std::string address);

private:
    struct question
    {
        wait_point done;
        look_ups::answer answer;

        question(boost::asio::any_io_executor executor, std::chrono::milliseconds patience) : done(std::move(executor), patience)
        {}
    };
    using questions = std::map<std::string, std::shared_ptr<question>>;

    awaitable<void> run();
    awaitable<void> ask(questions asked);

    runtime::host& host_;
    mailbox::address_store& store_;
    std::chrono::milliseconds patience_;
    questions waiting_;
    bool is_running_ = false;
};

} // namespace tempinbox::mail_ingest
