#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/position_file.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/retry.hpp"
#include "cli/waiting.hpp"
#include "cli/webhook.hpp"
#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/core/time.hpp"
#include "common/crypto/digest.hpp"
#include "common/http/url.hpp"
#include "common/json/writer.hpp"

#include <cstdio>

namespace tempinbox::cli {
namespace {

using namespace std::chrono_literals;

// As the service gives a webhook.
constexpr auto target_timeout = 15s;
constexpr std::int64_t max_attempts_bound = 1'000'000;
constexpr unsigned gone = 410;
// A request that stood so long was ended as a proxy ends idle ones; the service is there.
constexpr auto long_request = 5s;
constexpr std::size_t fingerprint_length = 16;

// What is forwarded, and where to.
struct forwarding
{
    std::string inbox;
    std::string target;
    criteria wanted;
    // About one request a minute while nothing comes; many proxies end one at 60 s.
    std::chrono::seconds hold{55};
    secret key;
    std::optional<std::int64_t> max_attempts;
    bool is_json = false;
};

// One attempt to hand an email to the target.
struct delivery
{
    std::int64_t sequence = 0;
    std::string email_id;
    std::string from;
    std::string subject;
    unsigned attempt = 1;
    unsigned status = 0;
    std::chrono::milliseconds took{0};
    std::string error;
    std::optional<std::chrono::seconds> next;
    bool is_delivered = false;
};

std::string now_text()
{
    return to_iso8601(system_clock_source().now());
}

std::string to_line(const delivery& made)
{
    auto line = now_text() + "  #" + std::to_string(made.sequence) + "  " +
                (made.error.empty() ? std::to_string(made.status) : made.error) + "  " +
                std::to_string(made.took.count()) + " ms  " + printable_line(made.from) + "  " +
                quote(printable_line(made.subject));
    if (made.attempt > 1 || !made.is_delivered)
        line += "  attempt " + std::to_string(made.attempt);
    if (made.next)
        line += ", again in " + to_text(*made.next);
    return line + "\n";
}

std::string to_json_line(const delivery& made)
{
    json::writer out;
    out.begin_object();
    out.member("at", now_text());
    out.member("sequence", made.sequence);
    out.member("emailId", made.email_id);
    out.member("attempt", made.attempt);
    if (made.status == 0)
        out.null_member("statusCode");
    else
        out.member("statusCode", made.status);
    out.member("durationMs", made.took.count());
    if (made.error.empty())
        out.null_member("error");
    else
        out.member("error", made.error);
    out.member("isDelivered", made.is_delivered);
    if (made.next)
        out.member("nextAttemptInSeconds", made.next->count());
    else
        out.null_member("nextAttemptInSeconds");
    return out.end_object().take() + "\n";
}

void print_now(const std::string& text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw failure_error({errc::internal, "standard output cannot be written"});
}

http::client_settings target_settings(const settings& chosen)
{
    http::client_settings client;
    client.ca_file = chosen.ca_file;
    client.body_limit = 64 * 1024;
    return client;
}

// Forwards emails one after the other, in the order of their sequences.
class forwarder
{
public:
    forwarder(session& working, forwarding what, position_file& position)
        : working_(working),
          what_(std::move(what)),
          position_(position),
          target_(working.loop(), target_settings(working.chosen()))
    {}

    // Ends by an exception only: what the service refuses for good, or a target that is gone.
    awaitable<void> run(std::int64_t after)
    {
        progress shown(working_.loop(), "listening:", std::nullopt);
        for (unsigned attempts = 0;;) {
            attempt made = co_await working_.api().send_once(
                wait_call(what_.inbox, what_.wanted, after, what_.hold), attempts);
            if (made.error) {
                shown.hide();
                if (made.response.took > long_request)
                    attempts = 0;
                co_await back_off(made, ++attempts);
                continue;
            }
            attempts = 0;
            const auto body = read_object(made.response, working_.chosen()).value();
            const auto outcome = text_of(body, "outcome");
            if (outcome == "matched") {
                shown.hide();
                after = co_await forward(body["email"]);
            } else if (outcome != "timeout") {
                co_await wait_a_while(500ms);
            }
        }
    }

private:
    // A service that is away or busy is waited for; what it refuses for good ends the run.
    static awaitable<void> back_off(attempt made, unsigned attempts)
    {
        const bool is_final =
            made.error->code != errc::unavailable && made.error->code != errc::rate_limited;
        if (is_final)
            throw failure_error(*made.error);
        const auto delay = std::max<std::chrono::milliseconds>(made.retry_after.value_or(0ms),
                                                               delivery_delay(attempts));
        std::fprintf(stderr, "tempinbox: %s; again in %s\n", made.error->message.c_str(),
                     to_text(std::chrono::ceil<std::chrono::seconds>(delay)).c_str());
        co_await wait_a_while(delay);
    }

    // Until the target takes it; answers the email's sequence.
    awaitable<std::int64_t> forward(json::value email)
    {
        const auto payload = webhook_payload(email);
        delivery made;
        made.sequence = integer_of(email, "sequence");
        made.email_id = text_of(email, "emailId");
        made.from = text_of(email, "from");
        made.subject = text_of(email, "subject");
        for (;; ++made.attempt) {
            co_await send(made, payload);
            // First the position, then the line: what was shown is not sent again.
            if (made.is_delivered)
                position_.write(made.sequence);
            print_now(what_.is_json ? to_json_line(made) : to_line(made));
            if (made.is_delivered)
                co_return made.sequence;
            if (made.status == gone)
                throw failure_error({errc::internal, "the target answered 410 Gone: it wants no "
                                                     "more"});
            if (!made.next)
                throw failure_error(
                    {errc::internal, "the target did not take the email " + made.email_id + " in " +
                                         std::to_string(made.attempt) +
                                         " attempts; listen begins with it the next time"});
            co_await wait_a_while(*made.next);
        }
    }

    awaitable<void> send(delivery& made, std::string payload)
    {
        const auto seconds = to_unix_seconds(system_clock_source().now());
        http::client_request outgoing;
        outgoing.method = "POST";
        outgoing.url = what_.target;
        outgoing.headers =
            webhook_headers(made.email_id, seconds, payload, what_.key, made.attempt);
        outgoing.body = std::move(payload);
        outgoing.deadline = target_timeout;
        const auto response = co_await target_.send(std::move(outgoing));

        made.status = response.status;
        made.took = response.took;
        made.error = response.error_text;
        const bool is_answered = response.error == http::exchange_error::none;
        made.is_delivered = is_answered && response.status >= 200 && response.status < 300;
        made.next.reset();
        const bool is_last = what_.max_attempts && made.attempt >= *what_.max_attempts;
        if (!made.is_delivered && !is_last && made.status != gone)
            made.next = delivery_delay(made.attempt);
    }

    session& working_;
    forwarding what_;
    position_file& position_;
    http::client target_;
};

forwarding read_forwarding(session& working, const arguments& given)
{
    forwarding what;
    what.target = given.value("forward-to").value_or("");
    if (const auto url = http::target_url::parse(what.target); !url)
        throw failure_error({errc::invalid_argument, "--forward-to: " + url.error().message});
    what.wanted = read_criteria(given);
    what.hold = read_hold(given, what.hold);
    what.max_attempts = given.integer("max-attempts", 1, max_attempts_bound);
    what.is_json = working.is_json();
    auto text = given.value("secret");
    if (!text)
        text = working.variables()("TEMPINBOX_WEBHOOK_SECRET");
    if (text)
        what.key = read_webhook_secret(*text).value();
    return what;
}

// One file for an inbox, a target and what is filtered.
std::string position_path(session& working, const forwarding& what, const arguments& given)
{
    if (const auto path = given.value("state-file"))
        return *path;
    const auto folder = state_folder(working.variables());
    if (!folder)
        throw failure_error({errc::invalid_argument,
                             "without HOME and XDG_STATE_HOME there is no place for the position: "
                             "give --state-file FILE"});
    const auto filter = wait_call(what.inbox, what.wanted, 0, 1s).path;
    const auto digest = to_hex(crypto::sha256(what.target + "\n" + filter));
    return *folder + "/listen/" + what.inbox + "-" + digest.substr(0, fingerprint_length);
}

awaitable<command_output> listen(session& working, arguments given)
{
    auto what = read_forwarding(working, given);
    if (given.value("after") != "latest")
        given.integer("after", 0, max_sequence);
    what.inbox = (co_await working.find_inbox(given.value("inbox").value_or(""))).value();
    position_file position(position_path(working, what, given));
    const auto stored = given.has("after") ? std::nullopt : position.read();
    std::int64_t after = 0;
    if (stored)
        after = *stored;
    else
        after = (co_await read_position(working, what.inbox, given)).value();
    // An email that was passed over by `latest` stays passed over.
    position.write(after);
    std::fprintf(stderr, "forwarding mail after #%lld of inbox %s to %s, %s\n",
                 static_cast<long long>(after), what.inbox.c_str(),
                 printable_line(what.target).c_str(),
                 what.key.empty() ? "not signed (no --secret)" : "signed");
    forwarder forwarding_mail(working, std::move(what), position);
    co_await forwarding_mail.run(after);
    co_return command_output{};
}

} // namespace

command listen_command()
{
    command made{
        .name = "listen",
        .purpose = "Forwards each email of an inbox to a URL, as a webhook would come",
        .takes = {},
        .options = {{.name = "inbox",
                     .value = "INBOX",
                     .meaning = "The inbox: its id or its address",
                     .is_required = true},
                    {.name = "forward-to",
                     .value = "URL",
                     .meaning = "Gets a POST for each email, such as http://localhost:3000/hook",
                     .is_required = true},
                    {.name = "secret",
                     .value = "WHSEC",
                     .meaning = "Signs as the webhook with this secret (whsec_…) is signed; or "
                                "TEMPINBOX_WEBHOOK_SECRET, which no list of processes shows"}},
        .run = listen};
    for (auto& filter : criteria_options())
        made.options.push_back(std::move(filter));
    made.options.push_back({.name = "after",
                            .value = "N",
                            .meaning = "Begins behind this sequence, or with `latest` (default: "
                                       "where the last run ended, else the first email)"});
    made.options.push_back({.name = "max-attempts",
                            .value = "N",
                            .meaning = "Gives up when the target refused an email so often "
                                       "(default: never)"});
    made.options.push_back({.name = "state-file",
                            .value = "FILE",
                            .meaning = "Keeps the position (default: below $XDG_STATE_HOME, "
                                       "~/.local/state)",
                            .is_file = true});
    made.options.push_back({.name = "hold",
                            .value = "SECONDS",
                            .meaning = "The longest single request, 1 to 60 (default 55): less "
                                       "where a proxy ends long ones"});
    return made;
}

} // namespace tempinbox::cli
