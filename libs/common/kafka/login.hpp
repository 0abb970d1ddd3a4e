#pragma once

#include "common/kafka/settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::kafka {

// What the librdkafka of a process can do; Debian's releases have different ones.
struct library
{
    std::string version;
    bool has_oidc = false;         // was built with libcurl, which fetches tokens
    bool has_https_ca = false;     // knows https.ca.location: 2.11.0
    bool has_scram_of_4_0 = false; // repeats no nonce, which brokers from 4.0 on refuse: 2.6.1
};

library library_in_use();

// A setting, and why a client would not log in by it, whatever the brokers say.
struct login_problem
{
    std::string_view setting;
    std::string text;
};

std::vector<login_problem> login_problems(const settings& chosen, const library& used);
// A login that works with some brokers only.
std::optional<std::string> login_warning(const settings& chosen, const library& used);

// Whether clients fetch tokens from an OpenID Connect issuer by an id and a secret.
bool uses_client_credentials(const std::map<std::string, std::string>& properties);

} // namespace tempinbox::kafka
