#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tempinbox::bench {

// One webhook as received: the event's id, when its last byte was read (nanoseconds of the Unix
// clock), and the first letter of the path, which says how it was answered.
struct receipt
{
    std::array<char, 36> id{};
    std::int64_t at = 0;
    char kind = 0;
};

// A receiver of webhooks on loopback that does as little as possible: one thread, epoll, keep-alive
// connections. POST /ok... gets 204, /fail... 500, /hang... no response, /slow... 204 after nine
// seconds, give or take three quarters of one, since a thousand endpoints do not respond in step.
// GET /count returns how many webhooks came, GET /receipts lists them, GET /reset deletes them.
// Ends the process if a system call fails.
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
        std::uint64_t number = 0; // socket numbers are reused
    };
    // A response that is sent later.
    struct late_answer
    {
        int socket;
        std::uint64_t connection;
    };

    void accept_all();
    void serve(int socket);
    // True while the connection lives.
    bool read(int socket, connection& peer);
    void answer_all(int socket, connection& peer);
    void answer(std::string_view head, int socket, connection& peer);
    void answer_late();
    int wait_millis() const;
    bool write(int socket, connection& peer);
    void close(int socket);
    std::string list() const;

    int listener_ = -1;
    int poll_ = -1;
    std::uint16_t port_ = 0;
    std::unordered_map<int, connection> connections_;
    std::vector<receipt> receipts_;
    std::multimap<std::chrono::steady_clock::time_point, late_answer>
        late_answers_; // by when they are due
    std::minstd_rand delays_{1};
    std::uint64_t accepted_ = 0;
};

} // namespace tempinbox::bench
