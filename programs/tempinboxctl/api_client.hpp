#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/secret.hpp"
#include "common/http/client.hpp"
#include "common/json/value.hpp"
#include "common/runtime/host.hpp"
#include "tempinboxctl/command.hpp"

#include <chrono>
#include <string>
#include <vector>

// The public API, for commands that see the suite as its users do.
namespace tempinbox::ctl {

struct api_settings
{
    std::string url; // without a slash at the end
    secret key;
    std::string ca_file;              // empty: the system's
    std::chrono::seconds timeout{10}; // of each call
};

// --api, --api-key-file and --ca-file.
std::vector<option> api_options();
result<api_settings> read_api_settings(const arguments& given, std::chrono::seconds timeout);

// The value of an option, else of a variable of the environment that is not empty, else
// `otherwise`.
std::string value_or_variable(const arguments& given, const std::string& option_name,
                              const char* variable, const char* otherwise);
// Seconds of an option, from one to an hour.
result<std::chrono::seconds> read_seconds(const arguments& given, const std::string& name,
                                          std::chrono::seconds otherwise);

// The text of a field of a JSON object; empty if there is none.
std::string text_field(const json::value& object, std::string_view name);
result<json::value> read_body(const http::client_response& answered);

class api_client
{
public:
    api_client(runtime::host& host, api_settings chosen);

    // Another status than the expected one is a failure: unavailable if nobody answered, internal
    // for what the service failed at, else what the call itself is refused for.
    awaitable<result<http::client_response>> call(std::string method, std::string path,
                                                  std::string body, unsigned expected,
                                                  std::chrono::seconds timeout);

private:
    const api_settings settings_;
    http::client client_;
};

} // namespace tempinbox::ctl
