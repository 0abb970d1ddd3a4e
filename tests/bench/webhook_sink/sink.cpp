#include "sink.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace tempinbox::bench {
namespace {

using steady = std::chrono::steady_clock;

constexpr int min_delay_ms = 8'250;
constexpr int max_delay_ms = 9'750;
constexpr std::size_t read_size = 64 * 1024;
constexpr std::string_view no_content = "HTTP/1.1 204 No Content\r\n\r\n";
constexpr std::string_view server_error =
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

int checked(int outcome, const char* what)
{
    if (outcome < 0)
        throw std::system_error(errno, std::generic_category(), what);
    return outcome;
}

// The value of a header spelled as the sender spells it; empty without it.
std::string_view header(std::string_view head, std::string_view name)
{
    const auto begin = head.find(name);
    if (begin == std::string_view::npos)
        return {};
    const auto value = head.substr(begin + name.size());
    return value.substr(0, value.find("\r\n"));
}

std::size_t content_length(std::string_view head)
{
    const auto text = header(head, "\r\nContent-Length: ");
    std::size_t length = 0;
    std::from_chars(text.data(), text.data() + text.size(), length);
    return length;
}

std::chrono::milliseconds slow_delay(std::minstd_rand& source)
{
    return std::chrono::milliseconds(
        std::uniform_int_distribution(min_delay_ms, max_delay_ms)(source));
}

std::string ok(std::string_view body)
{
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
}

} // namespace

sink::sink()
    : listener_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"))
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    checked(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), "bind");
    checked(::listen(listener_, SOMAXCONN), "listen");
    checked(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    port_ = ntohs(address.sin_port);
    poll_ = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.fd = listener_;
    checked(::epoll_ctl(poll_, EPOLL_CTL_ADD, listener_, &wanted), "epoll_ctl");
}

sink::~sink()
{
    for (const auto& [socket, peer] : connections_)
        ::close(socket);
    ::close(poll_);
    ::close(listener_);
}

void sink::run()
{
    std::array<epoll_event, 256> ready{};
    for (;;) {
        const int count =
            ::epoll_wait(poll_, ready.data(), static_cast<int>(ready.size()), wait_millis());
        for (int i = 0; i < count; ++i) {
            const int socket = ready[static_cast<std::size_t>(i)].data.fd;
            if (socket == listener_)
                accept_all();
            else
                serve(socket);
        }
        answer_late();
    }
}

// The time until the next late response; -1 if there is none.
int sink::wait_millis() const
{
    if (late_answers_.empty())
        return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(late_answers_.begin()->first - steady::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(0, left.count()));
}

void sink::answer_late()
{
    const auto now = steady::now();
    while (!late_answers_.empty() && late_answers_.begin()->first <= now) {
        const auto next = late_answers_.extract(late_answers_.begin()).mapped();
        const auto peer = connections_.find(next.socket);
        if (peer == connections_.end() || peer->second.number != next.connection)
            continue;
        peer->second.output += no_content;
        if (!write(next.socket, peer->second))
            close(next.socket);
    }
}

void sink::accept_all()
{
    for (;;) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0)
            return;
        const int yes = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        wanted.data.fd = socket;
        checked(::epoll_ctl(poll_, EPOLL_CTL_ADD, socket, &wanted), "epoll_ctl");
        connections_[socket].number = ++accepted_;
    }
}

void sink::serve(int socket)
{
    auto& peer = connections_[socket];
    const bool lives = peer.output.empty() ? read(socket, peer) : true;
    if (!lives || !write(socket, peer))
        close(socket);
}

bool sink::read(int socket, connection& peer)
{
    thread_local std::array<char, read_size> buffer;
    const auto got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    peer.input.append(buffer.data(), static_cast<std::size_t>(got));
    answer_all(socket, peer);
    return true;
}

void sink::answer_all(int socket, connection& peer)
{
    std::size_t at = 0;
    for (;;) {
        const auto rest = std::string_view(peer.input).substr(at);
        const auto end = rest.find("\r\n\r\n");
        if (end == std::string_view::npos)
            break;
        const auto head = rest.substr(0, end + 2);
        const auto whole = end + 4 + content_length(head);
        if (rest.size() < whole)
            break;
        answer(head, socket, peer);
        at += whole;
    }
    peer.input.erase(0, at);
}

void sink::answer(std::string_view head, int socket, connection& peer)
{
    if (head.starts_with("GET /count")) {
        peer.output += ok(std::to_string(receipts_.size()) + "\n");
    } else if (head.starts_with("GET /unanswered")) {
        peer.output += ok(std::to_string(late_answers_.size()) + "\n");
    } else if (head.starts_with("GET /receipts")) {
        peer.output += ok(list());
    } else if (head.starts_with("GET /reset")) {
        receipts_.clear();
        peer.output += ok("");
    } else if (head.starts_with("POST /")) {
        receipt got;
        const auto id = header(head, "\r\nwebhook-id: ");
        std::copy_n(id.begin(), std::min(id.size(), got.id.size()), got.id.begin());
        got.at = std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
        got.kind = head[6];
        receipts_.push_back(got);
        if (got.kind == 's')
            late_answers_.insert(
                {steady::now() + slow_delay(delays_), late_answer{socket, peer.number}});
        else if (got.kind != 'h')
            peer.output += got.kind == 'f' ? server_error : no_content;
    } else {
        peer.output += "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    }
}

bool sink::write(int socket, connection& peer)
{
    const bool was_waiting = peer.output.size() > read_size;
    while (!peer.output.empty()) {
        const auto sent = ::send(socket, peer.output.data(), peer.output.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0)
            break;
        peer.output.erase(0, static_cast<std::size_t>(sent));
    }
    // Only a list of receipts is larger than what the kernel takes at once.
    if (was_waiting || !peer.output.empty()) {
        epoll_event wanted{};
        wanted.events = peer.output.empty() ? EPOLLIN : EPOLLOUT;
        wanted.data.fd = socket;
        checked(::epoll_ctl(poll_, EPOLL_CTL_MOD, socket, &wanted), "epoll_ctl");
    }
    return true;
}

void sink::close(int socket)
{
    connections_.erase(socket);
    ::close(socket);
}

std::string sink::list() const
{
    std::string lines;
    lines.reserve(receipts_.size() * 60);
    for (const auto& one : receipts_) {
        lines.append(one.id.data(), one.id.size());
        lines += ' ' + std::to_string(one.at) + ' ' + one.kind + '\n';
    }
    return lines;
}

} // namespace tempinbox::bench
