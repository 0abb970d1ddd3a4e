#include "webhook-dispatcher/delivery/name_resolver.hpp"

#include "common/async/reset_event.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <ares.h>

#include <map>
#include <stdexcept>
#include <unordered_map>

#include <netinet/in.h>
#include <sys/socket.h>

namespace tempinbox::webhooks {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using steady = std::chrono::steady_clock;
using address_list = std::vector<asio::ip::address>;

constexpr std::size_t max_cached = 10'000;
constexpr int first_timeout_millis = 700;
constexpr int tries = 2;

void start_library()
{
    static const int status = ares_library_init(ARES_LIB_INIT_ALL);
    if (status != ARES_SUCCESS)
        throw std::runtime_error(std::string("c-ares does not start: ") + ares_strerror(status));
}

error_code error_of(int status)
{
    if (status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_EBADNAME)
        return asio::error::host_not_found;
    return asio::error::host_not_found_try_again;
}

address_list addresses_of(const ares_addrinfo* info)
{
    address_list found;
    for (const auto* node = info->nodes; node != nullptr; node = node->ai_next) {
        if (node->ai_family == AF_INET) {
            const auto* v4 = reinterpret_cast<const sockaddr_in*>(node->ai_addr);
            found.emplace_back(asio::ip::address_v4(ntohl(v4->sin_addr.s_addr)));
        } else if (node->ai_family == AF_INET6) {
            const auto* v6 = reinterpret_cast<const sockaddr_in6*>(node->ai_addr);
            asio::ip::address_v6::bytes_type bytes;
            std::copy(std::begin(v6->sin6_addr.s6_addr), std::end(v6->sin6_addr.s6_addr),
                      bytes.begin());
            found.emplace_back(asio::ip::address_v6(bytes, v6->sin6_scope_id));
        }
    }
    return found;
}

// One query and its result; everyone who looks up the name meanwhile waits here.
struct lookup
{
    explicit lookup(asio::io_context& loop) : done(loop.get_executor()) {}

    async::reset_event done;
    steady::time_point cached_until{};
    address_list addresses;
    error_code error;
};

// A socket of c-ares that the loop watches; c-ares closes it.
struct watched_socket
{
    watched_socket(asio::io_context& loop, ares_socket_t socket)
        : descriptor(loop, socket),
          number(socket)
    {}

    asio::posix::stream_descriptor descriptor;
    ares_socket_t number;
    bool is_open = true;
    bool wants_read = false;
    bool wants_write = false;
    bool is_reading = false;
    bool is_writing = false;
};

} // namespace

struct name_resolver::state : std::enable_shared_from_this<state>
{
    state(runtime::host& process, name_resolver_settings settings)
        : loop(process.loop()),
          chosen(std::move(settings)),
          timer(process.loop())
    {
        start_library();
        ares_options options{};
        options.timeout = first_timeout_millis;
        options.tries = tries;
        options.sock_state_cb = [](void* self, ares_socket_t socket, int readable, int writable) {
            static_cast<state*>(self)->watch(socket, readable != 0, writable != 0);
        };
        options.sock_state_cb_data = this;
        // A receiver's name is complete: this host's search list does not apply.
        options.ndots = 1;
        options.domains = nullptr;
        options.ndomains = 0;
        int given = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_NDOTS |
                    ARES_OPT_DOMAINS;
#ifdef ARES_OPT_QUERY_CACHE
        // From 1.31 on the library keeps answers for up to an hour; ours are kept here.
        options.qcache_max_ttl = 0;
        given |= ARES_OPT_QUERY_CACHE;
#endif
        int status = ares_init_options(&channel, &options, given);
        if (status == ARES_SUCCESS && !chosen.servers.empty())
            status = ares_set_servers_ports_csv(channel, chosen.servers.c_str());
        if (status != ARES_SUCCESS)
            throw std::runtime_error(std::string("the resolver does not start: ") +
                                     ares_strerror(status));
    }

    void stop()
    {
        timer.cancel();
        if (channel != nullptr)
            ares_destroy(std::exchange(channel, nullptr));
    }

    std::shared_ptr<lookup> find_or_start(const std::string& name)
    {
        auto& cached = lookups[name];
        if (cached && (!cached->done.is_set() || steady::now() < cached->cached_until))
            return cached;
        cached = std::make_shared<lookup>(loop);
        // c-ares may answer before this returns, and evict_expired may move the map.
        auto shared_lookup = cached;
        auto* query = new std::pair<std::weak_ptr<state>, std::shared_ptr<lookup>>(weak_from_this(),
                                                                                   shared_lookup);
        ares_addrinfo_hints hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        ares_getaddrinfo(channel, name.c_str(), nullptr, &hints, on_result, query);
        arm_timer();
        evict_expired();
        return shared_lookup;
    }

    static void on_result(void* argument, int status, int, ares_addrinfo* info)
    {
        const std::unique_ptr<std::pair<std::weak_ptr<state>, std::shared_ptr<lookup>>> query(
            static_cast<std::pair<std::weak_ptr<state>, std::shared_ptr<lookup>>*>(argument));
        auto& shared_lookup = *query->second;
        if (info != nullptr) {
            shared_lookup.addresses = addresses_of(info);
            ares_freeaddrinfo(info);
        }
        if (status != ARES_SUCCESS || shared_lookup.addresses.empty())
            shared_lookup.error =
                status == ARES_SUCCESS ? error_code(asio::error::host_not_found) : error_of(status);
        // A failure is not cached: the next attempt looks the name up again.
        if (const auto self = query->first.lock(); self && !shared_lookup.error)
            shared_lookup.cached_until = steady::now() + self->chosen.cache_ttl;
        shared_lookup.done.set();
    }

    void watch(ares_socket_t socket, bool readable, bool writable)
    {
        auto& entry = sockets[socket];
        if (!readable && !writable) {
            if (entry) {
                entry->is_open = false;
                entry->descriptor.release();
            }
            sockets.erase(socket);
            return;
        }
        if (!entry)
            entry = std::make_shared<watched_socket>(loop, socket);
        entry->wants_read = readable;
        entry->wants_write = writable;
        arm(entry);
    }

    void arm(const std::shared_ptr<watched_socket>& socket)
    {
        using wait = asio::posix::stream_descriptor;
        if (socket->wants_read && !std::exchange(socket->is_reading, true))
            socket->descriptor.async_wait(
                wait::wait_read, [self = weak_from_this(), socket](error_code error) {
                    socket->is_reading = false;
                    process(self, socket, error, socket->number, ARES_SOCKET_BAD);
                });
        if (socket->wants_write && !std::exchange(socket->is_writing, true))
            socket->descriptor.async_wait(
                wait::wait_write, [self = weak_from_this(), socket](error_code error) {
                    socket->is_writing = false;
                    process(self, socket, error, ARES_SOCKET_BAD, socket->number);
                });
    }

    static void process(const std::weak_ptr<state>& owner,
                        const std::shared_ptr<watched_socket>& socket, error_code error,
                        ares_socket_t readable, ares_socket_t writable)
    {
        const auto self = owner.lock();
        if (!self || self->channel == nullptr || error || !socket->is_open)
            return;
        ares_process_fd(self->channel, readable, writable);
        if (socket->is_open)
            self->arm(socket);
        self->arm_timer();
    }

    void arm_timer()
    {
        timeval buffer{};
        const timeval* next = ares_timeout(channel, nullptr, &buffer);
        if (next == nullptr) {
            timer.cancel();
            return;
        }
        timer.expires_after(std::chrono::seconds(next->tv_sec) +
                            std::chrono::microseconds(next->tv_usec));
        timer.async_wait([owner = weak_from_this()](error_code moved) {
            const auto self = owner.lock();
            if (moved || !self || self->channel == nullptr)
                return;
            ares_process_fd(self->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
            self->arm_timer();
        });
    }

    void evict_expired()
    {
        if (lookups.size() <= max_cached)
            return;
        const auto now = steady::now();
        std::erase_if(lookups, [now](const auto& item) {
            return item.second->done.is_set() && item.second->cached_until <= now;
        });
        if (lookups.size() > max_cached)
            std::erase_if(lookups, [](const auto& item) { return item.second->done.is_set(); });
    }

    asio::io_context& loop;
    name_resolver_settings chosen;
    ares_channel channel = nullptr;
    asio::steady_timer timer;
    std::map<ares_socket_t, std::shared_ptr<watched_socket>> sockets;
    std::unordered_map<std::string, std::shared_ptr<lookup>> lookups;
};

name_resolver::name_resolver(runtime::host& host, name_resolver_settings chosen)
    : state_(std::make_shared<state>(host, std::move(chosen)))
{}

name_resolver::~name_resolver()
{
    state_->stop();
}

awaitable<address_list> name_resolver::resolve(std::string name)
{
    const auto until = steady::now() + state_->chosen.deadline;
    const auto shared_lookup = state_->find_or_start(name);
    // The look-up continues if this caller gives up.
    if (!co_await shared_lookup->done.wait_until(until))
        throw boost::system::system_error(asio::error::host_not_found_try_again);
    if (shared_lookup->error)
        throw boost::system::system_error(shared_lookup->error);
    co_return shared_lookup->addresses;
}

http::resolver name_resolver::function()
{
    return [this](const std::string& name) { return resolve(name); };
}

} // namespace tempinbox::webhooks
