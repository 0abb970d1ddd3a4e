#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tempinbox::bench {

// One webhook as it came: the event's id, when its last byte was read (nanoseconds of the Unix clock), and the first letter of
// the path, which says what was answered.
struct receipt
{
    std::array<char, 36> id{};
    std::int64_t at = 0;
    char kind = 0;
};

// A receiver of webhooks on loopback that does as little as possible: one thread, epoll, kept connections. POST /ok... is
// answered 204, /fail... 500, /hang... never. GET /count tells how many came, GET /receipts lists them, GET /reset forgets them.
// Ends the process when the kernel refuses it something.
class sink
{
public:
    sink();
    ~sink();
    sink(const sink&) = delete;

    std::uint16_t port() const { return port_; }
    [[noreturn]] void run();

private:
    struct connection
    {
        std::string input;
        std::string output;
    };

    void accept_all();
    void serve(int socket);
    // True while the connection lives.
    bool read(int socket, connection& peer);
    void answer_all(connection& peer);
    void answer(std::string_view head, connection& peer);
    bool write(int socket, connection& peer);
    void close(int socket);
    std::string list() const;

    int listener_ = -1;
    int poll_ = -1;
    std::uint16_t port_ = 0;
    std::unordered_map<int, connection> connections_;
    std::vector<receipt> receipts_;
};

} // namespace tempinbox::bench
