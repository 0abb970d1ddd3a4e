#pragma once

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace tempinbox::cli {

// `waiting for mail … 12 s of 60 s` on a terminal, renewed each second and removed with the object.
// Prints nothing where standard error is no terminal.
class progress
{
public:
    // Without a timeout it counts the time alone.
    progress(boost::asio::io_context& loop, std::string label,
             std::optional<std::chrono::seconds> timeout);
    ~progress();
    progress(const progress&) = delete;

    // Removes the line, for one that is printed in its place; it is shown again within a second.
    void hide();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::cli
