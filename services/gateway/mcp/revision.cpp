#include "gateway/mcp/revision.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::array<std::string_view, 6> known{"2026-07-28", "2025-11-25", "2025-06-18",
                                                "2025-03-26", "2024-11-05", "2024-10-07"};
constexpr std::string_view newest_with_handshake = known[1];
// 2025-11-25, "Protocol Version Header": the revision of a message without that header, which came
// with the next one.
constexpr std::string_view newest_without_header = known[3];

constexpr std::string_view version_field = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_field = "io.modelcontextprotocol/clientCapabilities";

revision_reading refuse(const rpc_message& message, int code, std::string reason)
{
    revision_reading reading;
    reading.error.code = code;
    reading.error.message = std::move(reason);
    reading.error.id = message.id;
    return reading;
}

revision_reading accept(std::string_view revision)
{
    revision_reading reading;
    reading.revision = revision;
    return reading;
}

std::string_view find_known(std::string_view version)
{
    const auto found = std::find(known.begin(), known.end(), version);
    return found == known.end() ? std::string_view() : *found;
}

std::string all_known()
{
    return join_list({known.begin(), known.end()});
}

revision_reading refuse_version(const rpc_message& message, std::string_view requested)
{
    auto reading = refuse(message, rpc_code::unsupported_version,
                          "Unsupported protocol version: supported are " + all_known());
    json::writer data;
    data.begin_object().key("supported").begin_array();
    for (const auto revision : known)
        data.value(revision);
    data.end_array().member("requested", take_characters(requested, 60)).end_object();
    reading.error.data = data.take();
    return reading;
}

std::optional<std::string> find_text(const std::optional<json::value>& object,
                                     std::string_view name)
{
    const auto found = object ? object->find(name) : std::nullopt;
    if (!found || !found->is_string())
        return std::nullopt;
    return found->text();
}

// A value that is not plain ASCII comes as `=?base64?…?=` (Streamable HTTP, "Value Encoding").
std::optional<std::string> decode_header(std::string_view value)
{
    constexpr std::string_view begin = "=?base64?", end = "?=";
    if (value.size() < begin.size() + end.size() || !value.starts_with(begin) ||
        !value.ends_with(end))
        return std::string(value);
    value.remove_prefix(begin.size());
    value.remove_suffix(end.size());
    return from_base64(value);
}

// The error of a header that does not agree with the body.
std::optional<std::string> mismatch(std::string_view header,
                                    const std::optional<std::string>& given,
                                    std::string_view expected, std::string_view field)
{
    if (!given)
        return "Header mismatch: header " + std::string(header) + " is missing; it must be " +
               quote(expected) + ", as " + std::string(field) + " in the body";
    const auto decoded = decode_header(trim(*given));
    if (decoded && *decoded == expected)
        return std::nullopt;
    return "Header mismatch: header " + std::string(header) + " is " + quote(*given) +
           ", but the body has " + quote(expected) + " as " + std::string(field);
}

// Streamable HTTP, "Server Validation".
std::optional<std::string> find_mismatch(const rpc_message& message, const message_headers& headers)
{
    if (auto reason = mismatch("Mcp-Method", headers.method, message.method, "method"))
        return reason;
    const bool has_name = message.method == "tools/call" || message.method == "prompts/get";
    const auto name = find_text(message.params, has_name ? "name" : "uri");
    if (name && (has_name || message.method == "resources/read"))
        return mismatch("Mcp-Name", headers.name, *name, has_name ? "params.name" : "params.uri");
    return std::nullopt;
}

// A message of a revision without a handshake.
revision_reading read_stateless(const rpc_message& message, const message_headers& headers,
                                const json::value& meta, const std::string& version)
{
    if (const auto reason = mismatch("MCP-Protocol-Version", headers.version, version,
                                     "_meta." + std::string(version_field)))
        return refuse(message, rpc_code::header_mismatch, *reason);
    const auto revision = find_known(version);
    if (revision.empty() || !is_stateless(revision))
        return refuse_version(message, version);
    const auto capabilities = meta.find(capabilities_field);
    if (!capabilities || !capabilities->is_object())
        return refuse(message, rpc_code::invalid_params,
                      "params._meta must have " + std::string(capabilities_field) + ", an object");
    if (const auto reason = find_mismatch(message, headers))
        return refuse(message, rpc_code::header_mismatch, *reason);
    return accept(revision);
}

} // namespace

std::span<const std::string_view> revisions()
{
    return known;
}

bool is_stateless(std::string_view revision)
{
    return revision == known.front();
}

revision_reading find_revision(const rpc_message& message, const message_headers& headers)
{
    const auto meta = message.params ? message.params->find("_meta") : std::nullopt;
    if (const auto version = find_text(meta, version_field))
        return read_stateless(message, headers, *meta, *version);
    // The handshake is where the revision is found, so it has no header yet.
    if (message.method == "initialize")
        return accept(newest_with_handshake);
    if (!headers.version || trim(*headers.version).empty())
        return accept(newest_without_header);
    const auto revision = find_known(trim(*headers.version));
    if (revision.empty())
        return refuse_version(message, *headers.version);
    if (is_stateless(revision) && message.is == rpc_message::kind::request)
        return refuse(message, rpc_code::invalid_params,
                      "params._meta must have " + std::string(version_field) + ": " +
                          quote(revision) + ", and " + std::string(capabilities_field));
    return accept(revision);
}

std::string_view negotiate(const std::optional<json::value>& params)
{
    const auto requested = find_text(params, "protocolVersion");
    const auto revision = find_known(requested.value_or(""));
    return revision.empty() || is_stateless(revision) ? newest_with_handshake : revision;
}

} // namespace tempinbox::gateway::mcp
