#pragma once

#include "common/core/awaitable.hpp"
#include "common/log/log.hpp"
#include "common/runtime/wait_point.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::runtime {

// Batches questions into calls: those that arrive while one call is in progress form the next.
// Nobody joins a call that has begun, since its answer may be older than the question. Used on the
// loop; outlives it.
template <class Question, class Answer>
class gathered_calls
{
public:
    // Returns answers by question. A question that is left out gets no answer, nor does any if the
    // call throws (logged as `error_text`).
    using call = std::function<awaitable<std::map<Question, Answer>>(std::vector<Question>)>;

    gathered_calls(boost::asio::any_io_executor executor, std::size_t max_batch,
                   std::chrono::milliseconds timeout, std::string error_text, call ask_all)
        : executor_(std::move(executor)),
          max_batch_(max_batch),
          timeout_(timeout),
          error_text_(std::move(error_text)),
          ask_all_(std::move(ask_all))
    {}
    gathered_calls(const gathered_calls&) = delete;

    // nullopt if no answer came within the timeout.
    awaitable<std::optional<Answer>> ask(Question question)
    {
        auto& entry = gathering_[std::move(question)];
        if (!entry)
            entry = std::make_shared<asked>(executor_, timeout_);
        const auto mine = entry;
        if (!std::exchange(is_running_, true))
            boost::asio::co_spawn(executor_, run(), boost::asio::detached);
        co_await mine->done.wait();
        co_return mine->answer;
    }

private:
    struct asked
    {
        wait_point done;
        std::optional<Answer> answer;

        asked(const boost::asio::any_io_executor& executor, std::chrono::milliseconds timeout)
            : done(executor, timeout)
        {}
    };
    using questions = std::map<Question, std::shared_ptr<asked>>;

    awaitable<void> run()
    {
        while (!gathering_.empty()) {
            // Lets requests that are being read at this moment join the batch.
            co_await boost::asio::post(boost::asio::use_awaitable);
            questions next;
            while (!gathering_.empty() && next.size() < max_batch_)
                next.insert(gathering_.extract(gathering_.begin()));
            co_await send(std::move(next));
        }
        is_running_ = false;
    }

    awaitable<void> send(questions sent)
    {
        std::vector<Question> list;
        list.reserve(sent.size());
        for (const auto& [question, one] : sent)
            list.push_back(question);
        try {
            auto answers = co_await ask_all_(std::move(list));
            for (auto& [question, answer] : answers)
                if (const auto found = sent.find(question); found != sent.end())
                    found->second->answer = std::move(answer);
        } catch (const std::exception& problem) {
            log::warning(error_text_, {{"error", problem.what()}, {"questions", sent.size()}});
        }
        for (auto& [question, one] : sent)
            one->done.reach();
    }

    boost::asio::any_io_executor executor_;
    std::size_t max_batch_;
    std::chrono::milliseconds timeout_;
    std::string error_text_;
    call ask_all_;
    questions gathering_;
    bool is_running_ = false;
};

} // namespace tempinbox::runtime
