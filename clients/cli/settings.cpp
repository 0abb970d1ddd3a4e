#include "cli/settings.hpp"

#include "common/core/text.hpp"
#include "common/http/url.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tempinbox::cli {
namespace {

constexpr std::size_t max_key_file_bytes = 4'096;
constexpr std::size_t max_key_length = 512;

[[noreturn]] void refuse(std::string message)
{
    throw failure_error({errc::invalid_argument, std::move(message)});
}

// In single quotes, as a shell takes it.
std::string shell_quote(const std::string& word)
{
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::optional<std::string> user_folder(const environment& variables, const std::string& variable,
                                       const std::string& below_home)
{
    // XDG Base Directory Specification: a path that is not absolute is ignored.
    if (const auto given = variables(variable); given && given->starts_with('/'))
        return *given + "/tempinbox";
    if (const auto home = variables("HOME"); home && home->starts_with('/'))
        return *home + below_home + "/tempinbox";
    return std::nullopt;
}

std::string read_base_url(const arguments& given, const environment& variables)
{
    auto url = given.value("base-url");
    const std::string origin = url ? "--base-url" : "TEMPINBOX_BASE_URL";
    if (!url)
        url = variables("TEMPINBOX_BASE_URL");
    if (!url)
        refuse("where the service is must be said: export "
               "TEMPINBOX_BASE_URL=https://mail.example.com, or give --base-url "
               "https://mail.example.com");
    while (url->ends_with('/'))
        url->pop_back();
    const auto parsed = http::target_url::parse(*url);
    if (!parsed)
        refuse(origin + ": " + parsed.error().message);
    if (url->find_first_of("?#") != std::string::npos)
        refuse(origin + " must be an address without a query, not " + quote(*url));
    // Each request would be answered 404, as if the inbox did not exist.
    if (parsed->target.ends_with("/v1"))
        refuse(origin + " must be without /v1, not " + quote(*url));
    return *url;
}

secret check_key(std::string_view key, const std::string& origin)
{
    if (key.empty() || key.size() > max_key_length ||
        std::any_of(key.begin(), key.end(), [](char c) { return c <= ' ' || c > '~'; }))
        refuse(origin + " holds no API key: a key is one word such as ti_live_…");
    return secret(std::string(key));
}

// Closes the file with it.
struct open_file
{
    int descriptor;
    ~open_file()
    {
        if (descriptor >= 0)
            ::close(descriptor);
    }
};

// The first line of a file that nobody but its owner can read; absent if there is no file.
std::optional<secret> read_key_file(const std::string& path)
{
    const open_file file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.descriptor < 0 && errno == ENOENT)
        return std::nullopt;
    if (file.descriptor < 0)
        refuse("the key file " + quote(path) + " cannot be read: " + std::strerror(errno));
    struct stat about = {};
    if (::fstat(file.descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        refuse("the key file " + quote(path) + " is no file");
    if ((about.st_mode & 077U) != 0)
        refuse("others can read the key file " + quote(path) + "; type: chmod 600 " +
               shell_quote(path));
    std::array<char, max_key_file_bytes> bytes;
    const auto got = ::read(file.descriptor, bytes.data(), bytes.size());
    if (got < 0)
        refuse("the key file " + quote(path) + " cannot be read: " + std::strerror(errno));
    const std::string_view content(bytes.data(), static_cast<std::size_t>(got));
    return check_key(trim(content.substr(0, content.find('\n'))), "the key file " + quote(path));
}

void read_key(settings& chosen, const arguments& given, const environment& variables)
{
    if (const auto path = given.value("key-file")) {
        const auto key = read_key_file(*path);
        if (!key)
            refuse("the key file " + quote(*path) + " does not exist");
        chosen.api_key = *key;
        chosen.key_origin = *path;
        return;
    }
    if (const auto key = variables("TEMPINBOX_API_KEY")) {
        chosen.api_key = check_key(*key, "TEMPINBOX_API_KEY");
        chosen.key_origin = "TEMPINBOX_API_KEY";
        return;
    }
    const auto folder = config_folder(variables);
    const auto path = folder ? *folder + "/key" : std::string();
    if (auto key = folder ? read_key_file(path) : std::nullopt) {
        chosen.api_key = std::move(*key);
        chosen.key_origin = path;
        return;
    }
    refuse("an API key is needed: export TEMPINBOX_API_KEY=ti_live_…, or put it into a file of "
           "yours alone (chmod 600): " +
           (folder ? path : std::string("--key-file FILE")) + ". You make one at " +
           chosen.base_url + "/dashboard/settings/keys");
}

} // namespace

std::optional<std::string> find_variable(const std::string& name)
{
    const char* const value = std::getenv(name.c_str());
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<std::string> config_folder(const environment& variables)
{
    return user_folder(variables, "XDG_CONFIG_HOME", "/.config");
}

std::optional<std::string> state_folder(const environment& variables)
{
    return user_folder(variables, "XDG_STATE_HOME", "/.local/state");
}

std::string system_ca_file(const environment& variables)
{
    if (const auto chosen = variables("SSL_CERT_FILE"))
        return *chosen;
    constexpr std::array bundles{
        "/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
        "/etc/ssl/ca-bundle.pem",                            // openSUSE
        "/etc/ssl/cert.pem",                                 // Alpine, macOS
    };
    std::error_code ignored;
    for (const char* const bundle : bundles)
        if (std::filesystem::exists(bundle, ignored))
            return bundle;
    return {};
}

settings read_settings(const arguments& given, const environment& variables)
{
    settings chosen;
    chosen.is_json = given.has("json");
    chosen.base_url = read_base_url(given, variables);
    read_key(chosen, given, variables);
    chosen.ca_file = given.value("ca-file").value_or("");
    if (!chosen.ca_file.empty() && ::access(chosen.ca_file.c_str(), R_OK) != 0)
        refuse("--ca-file " + quote(chosen.ca_file) + " cannot be read: " + std::strerror(errno));
    if (chosen.ca_file.empty())
        chosen.ca_file = system_ca_file(variables);
    return chosen;
}

} // namespace tempinbox::cli
