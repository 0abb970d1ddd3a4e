#include "common/trace/settings.hpp"

#include "common/core/text.hpp"

#include <charconv>

namespace tempinbox::trace {
namespace {

constexpr std::string_view headers_name = "otel-exporter-otlp-headers";
constexpr std::string_view attributes_name = "otel-resource-attributes";
constexpr std::string_view ratio_name = "otel-traces-sampler-arg";

std::optional<std::string> percent_decode(std::string_view text)
{
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        unsigned byte = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (error != std::errc{} || digits.size() < 2 || end != digits.data() + 2)
            return std::nullopt;
        decoded += static_cast<char>(byte);
        i += 2;
    }
    return decoded;
}

bool is_http_url(std::string_view text)
{
    return text.starts_with("http://") || text.starts_with("https://");
}

// OTLP/HTTP: the endpoint for all signals gets the path of traces, one for traces is used as is.
std::string read_endpoint(config::reader& reader)
{
    constexpr std::string_view base_name = "otel-exporter-otlp-endpoint";
    constexpr std::string_view own_name = "otel-exporter-otlp-traces-endpoint";
    auto base = reader.text(base_name, "",
                            "Where traces are sent (OTLP/HTTP, JSON), such as "
                            "http://collector:4318, to which /v1/traces is added; empty: tracing "
                            "is off. OTEL_EXPORTER_OTLP_ENDPOINT sets it, too");
    auto own = reader.text(own_name, "",
                           "The same as a whole URL for traces, used as it is "
                           "(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)");
    for (const auto& [name, url] : {std::pair(base_name, base), std::pair(own_name, own)})
        if (!url.empty() && !is_http_url(url))
            reader.add_problem(name, "must be an http or https URL, not " + quote(url));
    if (!own.empty() || base.empty())
        return own;
    while (base.ends_with('/'))
        base.pop_back();
    return base + "/v1/traces";
}

sampler read_sampler(config::reader& reader)
{
    const auto name =
        reader.choice("otel-traces-sampler", "parentbased_traceidratio",
                      {"always_on", "always_off", "traceidratio", "parentbased_always_on",
                       "parentbased_always_off", "parentbased_traceidratio"},
                      "Which traces are recorded (OTEL_TRACES_SAMPLER)");
    const auto text = reader.text(
        ratio_name, "1", "The part of the traces that a ratio records (OTEL_TRACES_SAMPLER_ARG)");
    double ratio = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
    if (error != std::errc{} || end != text.data() + text.size() || !(ratio >= 0 && ratio <= 1))
        reader.add_problem(ratio_name, "must be a number from 0 to 1, not " + quote(text));
    return make_sampler(name, ratio).value_or(sampler{});
}

} // namespace

std::optional<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& piece : split_list(text)) {
        const auto equals = piece.find('=');
        const auto value = equals == std::string::npos
                               ? std::nullopt
                               : percent_decode(trim(std::string_view(piece).substr(equals + 1)));
        const auto key = trim(std::string_view(piece).substr(0, equals));
        if (!value || key.empty())
            return std::nullopt;
        pairs.emplace_back(key, *value);
    }
    return pairs;
}

settings read_settings(config::reader& reader)
{
    settings chosen;
    chosen.endpoint = read_endpoint(reader);
    const auto headers =
        parse_pairs(reader.text(headers_name, "",
                                "Header fields of these requests, name=value, comma-separated, "
                                "values percent-encoded (OTEL_EXPORTER_OTLP_HEADERS)"));
    reader.mark_hidden(headers_name);
    if (!headers)
        reader.add_problem(headers_name, "must be name=value, comma-separated");
    chosen.headers = headers.value_or(decltype(chosen.headers){});
    chosen.timeout = std::chrono::milliseconds(
        reader.integer("otel-exporter-otlp-timeout", 10'000, 1, 600'000,
                       "How long one of these requests may take, in milliseconds "
                       "(OTEL_EXPORTER_OTLP_TIMEOUT)"));
    chosen.ca_file =
        reader.readable_file("otel-exporter-otlp-certificate", "",
                             "CA certificates for an https endpoint, PEM, read again when the file "
                             "changes; empty: the system's (OTEL_EXPORTER_OTLP_CERTIFICATE)");
    chosen.sampler = read_sampler(reader);
    chosen.service_name = reader.text("otel-service-name", "",
                                      "service.name of the spans; empty: the program's name "
                                      "(OTEL_SERVICE_NAME)");
    const auto attributes = parse_pairs(
        reader.text(attributes_name, "",
                    "Further attributes of the resource, key=value, comma-separated, values "
                    "percent-encoded (OTEL_RESOURCE_ATTRIBUTES)"));
    if (!attributes)
        reader.add_problem(attributes_name, "must be key=value, comma-separated");
    if (attributes)
        for (const auto& [key, value] : *attributes)
            chosen.resource_attributes.emplace_back(key, value);
    if (reader.flag("otel-sdk-disabled", false,
                    "Turns tracing off whatever the endpoint (OTEL_SDK_DISABLED)"))
        chosen.endpoint.clear();
    return chosen;
}

} // namespace tempinbox::trace
