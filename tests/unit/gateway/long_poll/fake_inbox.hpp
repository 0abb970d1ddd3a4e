#pragma once

#include "common/json/value.hpp"
#include "common/testing/await.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"
#include "unit/common/rpc/in_process_services.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::testing {

// The inbox service with one inbox of one account, into which a test puts mail; counts its calls.
class fake_inbox
{
public:
    explicit fake_inbox(std::size_t max_memory_bytes = 10'000'000)
        : memory(max_memory_bytes),
          client(test_host(), {in_process_services::anywhere()}, services_.tokens(),
                 services_.client_settings())
    {
        services_.add(inbox_methods::find_first_emails,
                      [this](inbox::v1::FindFirstEmailsRequest request) {
                          return find_first(std::move(request));
                      });
        services_.add(inbox_methods::get_email, [this](inbox::v1::GetEmailRequest request) {
            return find_email(std::move(request));
        });
        services_.add(inbox_methods::get_email_summaries,
                      [this](inbox::v1::GetEmailSummariesRequest request) {
                          return find_summaries(std::move(request));
                      });
        services_.add(inbox_methods::get_last_sequences,
                      [this](inbox::v1::GetLastSequencesRequest request) {
                          return last_sequences(std::move(request));
                      });
    }
    fake_inbox(const fake_inbox&) = delete;

private:
    in_process_services services_;

public:
    account_id account = account_id::make();
    inbox_id inbox = inbox_id::make();
    bool is_live = true;
    bool is_everybodys = false;        // found for every account
    std::string text;                  // of every email
    std::optional<failure> error;      // the result of every call
    std::optional<failure> text_error; // the result of searches of messages
    gateway::response_budget memory;
    gateway::inbox_client client;
    std::size_t max_memory = 0;         // in use when an email was read
    inbox::v1::EmailFilter last_filter; // of the last search
    int polls = 0;
    int searches = 0;
    int emails_read = 0;
    int yields = 0; // how often other coroutines run before an email is returned
    int sequence_polls = 0;
    std::vector<std::string> deleted;         // found by a poll, gone when read
    std::shared_ptr<async::reset_event> held; // polls wait for this

    std::string add(const std::string& subject)
    {
        subjects_.push_back(subject);
        ids_.push_back(email_id::make().text());
        return ids_.back();
    }

    gateway::long_poll_request request(std::int64_t after = 0,
                                       const std::string& subject = "") const
    {
        gateway::long_poll_request request;
        request.account = account;
        request.inbox = inbox;
        request.after = after;
        if (!subject.empty())
            request.filter.set_subject(subject);
        return request;
    }

private:
    bool knows(const std::string& account_text, const std::string& inbox_text) const
    {
        return is_live && (is_everybodys || account_text == account.text()) &&
               inbox_text == inbox.text();
    }

    awaitable<result<inbox::v1::FindFirstEmailsResponse>>
    find_first(inbox::v1::FindFirstEmailsRequest request)
    {
        ++polls;
        searches += request.searches_size();
        if (held) {
            const auto until = held;
            co_await until->wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(20));
        }
        if (error)
            co_return *error;
        const auto looks_at_text = [](const auto& search) { return search.filter().has_text(); };
        if (text_error &&
            std::any_of(request.searches().begin(), request.searches().end(), looks_at_text))
            co_return *text_error;
        if (!knows(request.account_id(), request.inbox_id()))
            co_return failure(errc::not_found, "Inbox does not exist");
        inbox::v1::FindFirstEmailsResponse response;
        response.set_last_sequence(static_cast<std::int64_t>(subjects_.size()));
        for (const auto& search : request.searches()) {
            last_filter = search.filter();
            *response.add_results() = search_one(search);
        }
        co_return response;
    }

    inbox::v1::EmailSearchResult search_one(const inbox::v1::EmailSearch& search) const
    {
        inbox::v1::EmailSearchResult found;
        found.set_searched_to(search.after());
        for (auto i = static_cast<std::size_t>(search.after()); i < subjects_.size(); ++i) {
            found.set_searched_to(static_cast<std::int64_t>(i + 1));
            if (subjects_[i].find(search.filter().subject()) != std::string::npos) {
                found.add_email_ids(ids_[i]);
                if (found.email_ids_size() >= std::max(search.max_matches(), 1))
                    break;
                continue;
            }
            auto& miss = *found.add_near_misses();
            miss.set_email_id(ids_[i]);
            miss.set_sequence(static_cast<std::int64_t>(i + 1));
            miss.set_field("subject");
            miss.set_actual(subjects_[i]);
        }
        return found;
    }

    awaitable<result<inbox::v1::GetEmailResponse>> find_email(inbox::v1::GetEmailRequest request)
    {
        ++emails_read;
        max_memory = std::max(max_memory, memory.used());
        for (int i = 0; i < yields; ++i)
            co_await boost::asio::post(test_host().executor(), boost::asio::use_awaitable);
        if (error)
            co_return *error;
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            const bool is_deleted =
                std::find(deleted.begin(), deleted.end(), ids_[i]) != deleted.end();
            if (ids_[i] != request.email_id() || is_deleted)
                continue;
            inbox::v1::GetEmailResponse response;
            response.mutable_email()->mutable_summary()->set_email_id(ids_[i]);
            response.mutable_email()->mutable_summary()->set_subject(subjects_[i]);
            if (request.most_bytes() > 0 &&
                static_cast<std::int64_t>(text.size()) > request.most_bytes())
                response.set_omitted_bytes(static_cast<std::int64_t>(text.size()));
            else
                response.mutable_email()->set_text(text);
            co_return response;
        }
        co_return failure(errc::not_found, "Email does not exist");
    }

    awaitable<result<inbox::v1::GetEmailSummariesResponse>>
    find_summaries(inbox::v1::GetEmailSummariesRequest request)
    {
        inbox::v1::GetEmailSummariesResponse response;
        for (const auto& id : request.email_ids()) {
            if (std::find(deleted.begin(), deleted.end(), id) != deleted.end())
                continue;
            const auto found = std::find(ids_.begin(), ids_.end(), id);
            auto& email = *response.add_emails();
            email.set_email_id(id);
            email.set_sequence(found - ids_.begin() + 1);
        }
        co_return response;
    }

    awaitable<result<inbox::v1::GetLastSequencesResponse>>
    last_sequences(inbox::v1::GetLastSequencesRequest request)
    {
        ++sequence_polls;
        if (error)
            co_return *error;
        inbox::v1::GetLastSequencesResponse response;
        for (const auto& name : request.inboxes())
            response.add_last_sequences(knows(name.account_id(), name.inbox_id())
                                            ? static_cast<std::int64_t>(subjects_.size())
                                            : -1);
        co_return response;
    }

    std::vector<std::string> subjects_;
    std::vector<std::string> ids_;
};

// A wait in progress.
struct running_wait
{
    http::request request;
    bool is_let_go = false; // releases the result as soon as it comes
    std::optional<result<gateway::long_poll_result>> final_result;

    gateway::long_poll_outcome end() const { return final_result->value().end; }
    std::string email_id() const
    {
        const auto& email = final_result->value().email;
        return email ? json::value::parse(*email).value()["emailId"].text() : std::string();
    }
};

inline awaitable<void> run_wait(gateway::long_poll_hub& hub, gateway::long_poll_request request,
                                std::chrono::milliseconds timeout,
                                std::shared_ptr<running_wait> running)
{
    auto final_result = co_await hub.wait(std::move(request), timeout, running->request);
    if (running->is_let_go)
        final_result = gateway::long_poll_result();
    running->final_result.emplace(std::move(final_result));
}

inline std::shared_ptr<running_wait>
begin_wait(gateway::long_poll_hub& hub, gateway::long_poll_request request,
           std::chrono::milliseconds timeout = std::chrono::seconds(30))
{
    auto running = std::make_shared<running_wait>();
    boost::asio::co_spawn(test_host().loop(), run_wait(hub, std::move(request), timeout, running),
                          boost::asio::detached);
    return running;
}

} // namespace tempinbox::testing
