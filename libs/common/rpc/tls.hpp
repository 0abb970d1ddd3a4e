#pragma once

#include "common/config/reader.hpp"
#include "common/runtime/host.hpp"
#include "common/tls/context_source.hpp"

#include <string>

namespace tempinbox::rpc {

// TLS between services: PEM files of the process's own certificate chain, its key, and the
// certificate authorities that the other side's certificate must come from. All or none.
struct tls_settings
{
    std::string certificate_file;
    std::string key_file;
    std::string ca_file;

    bool is_set() const { return !certificate_file.empty(); }
};

tls_settings read_tls_settings(config::reader& reader);

// What new connections between services are made with: TLS 1.3, both sides show a certificate. The
// sources are empty without settings. They outlive this, but then stay as they are.
struct tls_contexts
{
    tls::context_source server;
    tls::context_source client;
    runtime::file_watch::subscription watched;
};

// Reads the files again when they change; a set that does not load leaves the old one in use.
// Throws std::runtime_error if the first one does not.
tls_contexts watch_tls(runtime::host& host, const tls_settings& files);

} // namespace tempinbox::rpc
