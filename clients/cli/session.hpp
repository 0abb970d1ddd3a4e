#pragma once

#include "cli/api_client.hpp"
#include "cli/settings.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::cli {

// What the commands of one run share. Settings are read when a command first needs them: the
// completion needs none.
class session
{
public:
    session(boost::asio::io_context& loop, const arguments& given, const environment& variables);

    boost::asio::io_context& loop() { return loop_; }
    const environment& variables() const { return variables_; }
    bool is_json() const { return is_json_; }
    const settings& chosen();
    api_client& api();

    // The inbox that the words name, by id or by address.
    awaitable<result<std::string>> find_inbox(std::string id_or_address);

private:
    boost::asio::io_context& loop_;
    arguments given_;
    environment variables_;
    bool is_json_;
    std::optional<settings> settings_;
    std::optional<api_client> api_;
};

// For positions in an inbox: `after` of a wait.
constexpr std::int64_t max_sequence = std::numeric_limits<std::int64_t>::max();

// An id as the API writes it; invalid_argument that says what the word should be.
result<std::string> read_email_id(std::string_view word);

} // namespace tempinbox::cli
