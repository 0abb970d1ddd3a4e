#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "fuzz/require.hpp"
#include "mail-ingest/smtp/auth_exchange.hpp"
#include "mail-ingest/smtp/command.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace tempinbox;
using fuzz::require;
using status = smtp::auth_exchange::status;

namespace {

// The parts as they would have to be sent.
std::string encoded(const smtp::credentials& given, bool is_plain)
{
    if (!is_plain)
        return to_base64(given.password);
    return to_base64(given.acts_as + '\0' + given.user + '\0' + given.password);
}

void check_complete(smtp::auth_exchange& exchange, bool is_plain, std::string_view last_line)
{
    const auto given = exchange.take_credentials();
    for (const auto* part : {&given.acts_as, &given.user, &given.password}) {
        require(is_valid_utf8(*part), "credentials are UTF-8");
        require(part->find('\0') == std::string::npos, "no part has a zero byte");
        require(part->size() <= last_line.size() + 4'096, "credentials are of bounded length");
    }
    require(encoded(given, is_plain) == last_line, "the parts are those that were sent");
}

} // namespace

// The arguments of AUTH, then the lines of its exchange, each up to a LF.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    std::string_view script(reinterpret_cast<const char*>(input), size);
    const auto take_line = [&script] {
        const auto end = std::min(script.find('\n'), script.size());
        const auto line = script.substr(0, end);
        script.remove_prefix(std::min(end + 1, script.size()));
        return line;
    };
    const auto arguments = smtp::parse_auth(take_line());
    if (!arguments)
        return 0;
    require(!arguments->mechanism.empty() && arguments->mechanism.find(' ') == std::string::npos,
            "a mechanism is a word");
    auto exchange = smtp::auth_exchange::begin(arguments->mechanism);
    if (!exchange)
        return 0;
    const bool is_plain = equals_ignoring_ascii_case(arguments->mechanism, "PLAIN");
    auto line = arguments->response.value_or(std::string_view{});
    auto next = exchange->start(arguments->response);
    for (int lines = 0; next == status::challenge; ++lines) {
        require(lines < 3, "an exchange has at most two responses");
        require(exchange->challenge().starts_with("334 "), "a challenge is a 334");
        line = take_line();
        next = exchange->resume(line);
    }
    if (next == status::complete)
        check_complete(*exchange, is_plain, line);
    if (next == status::cancelled)
        require(line == "*", "only `*` cancels");
    return 0;
}
