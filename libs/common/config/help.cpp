#include "common/config/reader.hpp"

#include "common/json/writer.hpp"

#include <algorithm>

namespace tempinbox::config {
namespace {

bool has_word(std::string_view name, std::string_view word)
{
    return name == word || name.starts_with(std::string(word) + "-") ||
           name.ends_with("-" + std::string(word));
}

// The groups of settings in --help, in this order.
constexpr std::string_view groups[] = {"Service", "Between services", "PostgreSQL", "Kafka",
                                       "Process"};

std::string_view group_of(const setting& known)
{
    if (has_word(known.name, "rpc") || known.name == "rpc-listen" || known.name == "rpc-token-file")
        return "Between services";
    if (has_word(known.name, "database"))
        return "PostgreSQL";
    if (has_word(known.name, "kafka"))
        return "Kafka";
    if (known.name.starts_with("admin-") || known.name.starts_with("otel-") ||
        known.name.ends_with("-log") || known.name == "log-level" || known.name == "drain-timeout")
        return "Process";
    return "Service";
}

// The characters that libpq treats as blanks.
constexpr std::string_view blanks = " \t\n\r\f\v";

std::string flag_text(const setting& known)
{
    std::string text = "  --" + known.name;
    if (!known.fallback.empty())
        text += "=" + known.fallback;
    return text;
}

} // namespace

std::string help_text(std::string_view program, std::string_view purpose,
                      const std::vector<setting>& declared)
{
    std::string text = std::string(program) + ": " + std::string(purpose) + "\n\n";
    text += "Settings are given as flag --name=value, as environment variable, or as line `name = "
            "value` of the --config file;\n"
            "flags win over environment over file. Shown as --name=default.\n";
    for (const auto group : groups) {
        bool is_first = true;
        for (const auto& known : declared) {
            if (group_of(known) != group)
                continue;
            if (std::exchange(is_first, false))
                text += "\n" + std::string(group) + "\n";
            text += flag_text(known) + "\n";
            text += "      " + known.meaning +
                    (known.allowed.empty() ? "" : " (" + known.allowed + ")") + "\n";
            text += "      " + environment_name(known.name) + "\n";
        }
    }
    text += "\nOther\n"
            "  --config=FILE    settings, one `name = value` per line (TEMPINBOX_CONFIG)\n"
            "  --print-settings prints all of this as JSON, and exits\n"
            "  --check-config   prints the errors of the settings, and exits\n"
            "  --version        prints the version, and exits\n"
            "  --help           prints this, and exits\n";
    return text;
}

std::string settings_json(std::string_view program, std::string_view purpose,
                          const std::vector<setting>& declared)
{
    json::writer out;
    out.begin_object()
        .member("program", program)
        .member("purpose", purpose)
        .key("settings")
        .begin_array();
    for (const auto group : groups)
        for (const auto& known : declared) {
            if (group_of(known) != group)
                continue;
            const bool is_required = known.allowed == "required";
            out.begin_object()
                .member("name", known.name)
                .member("environment", environment_name(known.name))
                .member("section", group)
                .member("default", known.fallback)
                .member("meaning", known.meaning)
                .member("values", is_required ? std::string() : known.allowed)
                .member("required", is_required)
                .member("secret", known.is_secret)
                .end_object();
        }
    out.end_array().end_object();
    return out.take() + "\n";
}

std::string mask_passwords(std::string_view value)
{
    std::string masked(value);
    // postgresql://user:password@host
    const auto authority = masked.find("://");
    if (authority != std::string::npos) {
        const auto start = authority + 3;
        const auto end = std::min(masked.find_first_of("/?", start), masked.size());
        const auto at = masked.rfind('@', end);
        const auto colon = masked.find(':', start);
        if (at != std::string::npos && at > start && colon < at)
            masked.replace(colon + 1, at - colon - 1, "***");
    }
    // password=... in a DSN, where libpq allows blanks around the sign, or in a URL's query; quoted
    // values may hold spaces.
    constexpr std::string_view word = "password";
    for (auto at = masked.find(word); at != std::string::npos; at = masked.find(word, at + 1)) {
        const auto sign = masked.find_first_not_of(blanks, at + word.size());
        if (sign == std::string::npos || masked[sign] != '=')
            continue;
        const auto start = std::min(masked.find_first_not_of(blanks, sign + 1), masked.size());
        auto end = start;
        if (end < masked.size() && masked[end] == '\'') {
            for (++end; end < masked.size() && masked[end] != '\''; ++end)
                end += masked[end] == '\\' ? 1 : 0;
            end = std::min(end + 1, masked.size());
        } else {
            // A backslash makes the next character part of the value, even a blank.
            for (; end < masked.size() && masked[end] != '&' &&
                   blanks.find(masked[end]) == std::string_view::npos;
                 ++end)
                end += masked[end] == '\\' ? 1 : 0;
            end = std::min(end, masked.size());
        }
        masked.replace(start, end - start, "***");
    }
    return masked;
}

} // namespace tempinbox::config
