#include "tempinboxctl/mail_exchangers.hpp"

#include "common/core/text.hpp"

#include <ares.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <type_traits>

#include <arpa/nameser.h>
#include <poll.h>

namespace tempinbox::ctl {
namespace {

using steady = std::chrono::steady_clock;
using channel_handle =
    std::unique_ptr<std::remove_pointer_t<ares_channel>, decltype(&ares_destroy)>;
using host_list = std::vector<std::string>;

// The longest that c-ares waits for one server before it asks again; it asks twice.
constexpr std::chrono::milliseconds max_try{2'000};
constexpr int tries = 2;

failure unavailable(int status)
{
    return failure{errc::unavailable, std::string("no name server says: ") + ares_strerror(status)};
}

// RFC 7505: a domain without mail has one record, whose host is the root.
host_list hosts_of(const ares_mx_reply* first)
{
    host_list hosts;
    for (const auto* record = first; record != nullptr; record = record->next)
        if (const std::string_view host = record->host; !host.empty() && host != ".")
            hosts.push_back(to_lower_ascii(host));
    return hosts;
}

result<host_list> read_reply(int status, const unsigned char* reply, int size)
{
    ares_mx_reply* first = nullptr;
    if (status == ARES_SUCCESS)
        status = ares_parse_mx_reply(reply, size, &first);
    const std::unique_ptr<ares_mx_reply, decltype(&ares_free_data)> records(first, ares_free_data);
    if (status == ARES_ENOTFOUND || status == ARES_ENODATA)
        return host_list();
    if (status != ARES_SUCCESS)
        return unavailable(status == ARES_ECANCELLED ? ARES_ETIMEOUT : status);
    return hosts_of(first);
}

result<channel_handle> open_channel(const std::string& name_server,
                                    std::chrono::milliseconds timeout)
{
    ares_options options{};
    options.timeout = static_cast<int>(std::min(timeout, max_try).count());
    options.tries = tries;
    ares_channel channel = nullptr;
    auto status = ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
    if (status != ARES_SUCCESS)
        return unavailable(status);
    channel_handle opened(channel, ares_destroy);
    if (!name_server.empty() &&
        ares_set_servers_ports_csv(channel, name_server.c_str()) != ARES_SUCCESS)
        return failure{errc::invalid_argument, "the name server must be an IP address such as "
                                               "192.0.2.53 or 192.0.2.53:53, not " +
                                                   quote(name_server)};
    return opened;
}

// Lets the channel work until it has answered or the time is over.
void process(ares_channel channel, const std::optional<result<host_list>>& answer,
             steady::time_point until)
{
    while (!answer) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()).count();
        if (left <= 0)
            return ares_cancel(channel); // answers with ARES_ECANCELLED
        std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
        const auto wanted = static_cast<unsigned>(
            ares_getsock(channel, sockets.data(), static_cast<int>(sockets.size())));
        std::vector<pollfd> watched;
        for (std::size_t i = 0; i < sockets.size(); ++i) {
            const bool reads = ARES_GETSOCK_READABLE(wanted, i);
            const bool writes = ARES_GETSOCK_WRITABLE(wanted, i);
            if (reads || writes)
                watched.push_back(
                    {sockets[i], static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)),
                     0});
        }
        timeval buffer{};
        const timeval* next = ares_timeout(channel, nullptr, &buffer);
        const auto pause =
            next == nullptr
                ? left
                : std::min<long>(left, next->tv_sec * 1'000 + next->tv_usec / 1'000 + 1);
        if (::poll(watched.data(), watched.size(), static_cast<int>(pause)) <= 0)
            ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        for (const auto& socket : watched)
            if (socket.revents != 0)
                ares_process_fd(channel, socket.events & POLLIN ? socket.fd : ARES_SOCKET_BAD,
                                socket.events & POLLOUT ? socket.fd : ARES_SOCKET_BAD);
    }
}

} // namespace

result<host_list> find_mail_exchangers(const std::string& name, const std::string& name_server,
                                       std::chrono::milliseconds timeout)
{
    static const int library = ares_library_init(ARES_LIB_INIT_ALL);
    if (library != ARES_SUCCESS)
        return unavailable(library);
    std::optional<result<host_list>> answer; // outlives the channel, which answers when it ends
    const auto channel = open_channel(name_server, timeout);
    if (!channel)
        return channel.error();
    const auto until = steady::now() + timeout;
    ares_query(
        channel->get(), name.c_str(), ns_c_in, ns_t_mx,
        [](void* found, int status, int, unsigned char* reply, int size) {
            static_cast<std::optional<result<host_list>>*>(found)->emplace(
                read_reply(status, reply, size));
        },
        &answer);
    process(channel->get(), answer, until);
    return std::move(answer).value();
}

} // namespace tempinbox::ctl
