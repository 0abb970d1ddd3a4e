#pragma once

#include "common/testing/await.hpp"

#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tempinbox::testing {

// A name server on loopback that answers as scripted (RFC 1035 4.1).
class fake_dns
{
public:
    struct reply
    {
        int code = 0; // RCODE: 0 no error, 2 server failure, 3 no such name
        std::vector<std::array<std::uint8_t, 4>> addresses;
        std::vector<std::array<std::uint8_t, 16>> v6_addresses;
        bool is_silent = false;
    };

    fake_dns() : socket_(test_host().loop(), {boost::asio::ip::address_v4::loopback(), 0})
    {
        receive();
    }

    std::string address() const
    {
        return "127.0.0.1:" + std::to_string(socket_.local_endpoint().port());
    }
    void set_reply(const std::string& name, reply given) { replies_[name] = std::move(given); }
    // Queries for IPv4 addresses of the name.
    int query_count(const std::string& name) { return query_counts_[name]; }

private:
    void receive()
    {
        socket_.async_receive_from(boost::asio::buffer(query_), from_,
                                   [this](boost::system::error_code error, std::size_t size) {
                                       if (error)
                                           return;
                                       respond(size);
                                       receive();
                                   });
    }

    void respond(std::size_t size)
    {
        std::string name;
        std::size_t at = 12;
        while (at < size && query_[at] != 0) {
            const auto length = query_[at++];
            if (!name.empty())
                name += '.';
            name.append(reinterpret_cast<const char*>(&query_[at]), length);
            at += length;
        }
        const std::size_t question_end = at + 5;
        const bool is_v4 = query_[at + 2] == 1;
        if (is_v4)
            ++query_counts_[name];
        const auto found = replies_.find(name);
        reply chosen;
        if (found == replies_.end())
            chosen.code = 3;
        else
            chosen = found->second;
        if (chosen.is_silent)
            return;

        const bool is_v6 = query_[at + 2] == 28;
        const std::size_t count = is_v4   ? chosen.addresses.size()
                                  : is_v6 ? chosen.v6_addresses.size()
                                          : 0;
        std::vector<std::uint8_t> out(query_.begin(),
                                      query_.begin() + static_cast<std::ptrdiff_t>(question_end));
        out[2] = 0x81;
        out[3] = static_cast<std::uint8_t>(0x80 | chosen.code);
        out[6] = 0;
        out[7] = static_cast<std::uint8_t>(count);
        std::fill(out.begin() + 8, out.begin() + 12, std::uint8_t{0});
        if (is_v4)
            add_records(out, 1, chosen.addresses);
        else if (is_v6)
            add_records(out, 28, chosen.v6_addresses);
        boost::system::error_code ignored;
        socket_.send_to(boost::asio::buffer(out), from_, 0, ignored);
    }

    template <class Addresses>
    static void add_records(std::vector<std::uint8_t>& out, std::uint8_t type,
                            const Addresses& addresses)
    {
        for (const auto& address : addresses) {
            const std::uint8_t head[] = {0xc0, 0x0c, 0, type,
                                         0,    1,    0, 0,
                                         0,    60,   0, static_cast<std::uint8_t>(address.size())};
            out.insert(out.end(), std::begin(head), std::end(head));
            out.insert(out.end(), address.begin(), address.end());
        }
    }

    boost::asio::ip::udp::socket socket_;
    boost::asio::ip::udp::endpoint from_;
    std::array<std::uint8_t, 512> query_{};
    std::map<std::string, reply> replies_;
    std::map<std::string, int> query_counts_;
};

} // namespace tempinbox::testing
