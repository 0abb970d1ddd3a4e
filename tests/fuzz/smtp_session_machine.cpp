#include "fuzz/smtp_host.hpp"

#include <cstddef>
#include <cstdint>

using namespace tempinbox;
using fuzz::require;

namespace {

// Separators that split the input into the client's actions, one after the other; none of them is
// UTF-8.
constexpr char write_ends = '\xf8';
constexpr char time_passes = '\xf9';
constexpr char service_ends = '\xfa';
constexpr char memory_is_short = '\xfb';

smtp::limits limits_for(std::uint8_t choice)
{
    smtp::limits bounds;
    bounds.hostname = "mx.test";
    bounds.takes_bare_newlines = (choice & 1) != 0;
    if ((choice & 8) != 0) {
        bounds.command_line = 64;
        bounds.message_bytes = 200;
        bounds.recipients = 2;
        bounds.messages = 3;
        bounds.errors_before_delay = 2;
        bounds.errors_before_close = 4;
        bounds.unknown_before_delay = 2;
        bounds.unknown_before_close = 3;
    } else {
        bounds.message_bytes = 100'000;
    }
    return bounds;
}

void play(fuzz::smtp_host& host, std::string_view script, std::size_t max_piece_bytes,
          bool talks_first)
{
    constexpr std::size_t first_bytes = 8;
    if (talks_first) {
        host.write(script.substr(0, first_bytes), max_piece_bytes);
        script.remove_prefix(std::min(first_bytes, script.size()));
    }
    host.greet();
    while (!script.empty()) {
        const char markers[] = {write_ends, time_passes, service_ends, memory_is_short};
        const auto end = std::min(script.find_first_of(std::string_view(markers, sizeof markers)),
                                  script.size());
        host.write(script.substr(0, end), max_piece_bytes);
        if (end == script.size())
            break;
        if (script[end] == time_passes)
            host.pass(std::chrono::seconds(40));
        if (script[end] == service_ends)
            host.session_machine().shut_down();
        if (script[end] == memory_is_short)
            host.session_machine().set_overloaded(true);
        host.run();
        script.remove_prefix(end + 1);
    }
    host.hang_up();
}

} // namespace

// A whole session: any bytes, split in any way, with pauses, a shutdown and a lack of memory. The
// first byte chooses the server's settings, the second how the same bytes are split the second
// time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    if (size < 2)
        return 0;
    const auto bounds = limits_for(input[0]);
    smtp::session_machine::client who;
    who.can_start_tls = (input[0] & 2) != 0;
    who.is_exempt = (input[0] & 4) != 0;
    if ((input[0] & 32) != 0)
        who.logins =
            (input[0] & 64) != 0 ? smtp::login_policy::at_once : smtp::login_policy::after_tls;
    const bool talks_first = (input[0] & 16) != 0;
    const std::string_view script(reinterpret_cast<const char*>(input) + 2, size - 2);

    fuzz::smtp_host whole(bounds, who);
    play(whole, script, script.size() + 1, talks_first);
    fuzz::smtp_host cut(bounds, who);
    play(cut, script, input[1] % 16U + 1, talks_first);

    // A client that does not wait where it must is disconnected, and only the split shows whether
    // it waited.
    if (whole.replies().find("554 5.5.0") == std::string::npos) {
        require(whole.replies() == cut.replies(),
                "a session cut at any byte gets the same replies");
        require(whole.events() == cut.events(), "a session cut at any byte does the same");
    }
    return 0;
}
