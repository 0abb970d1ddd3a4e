#pragma once

#include "common/runtime/host.hpp"
#include "common/tls/certificate.hpp"

namespace tempinbox::smtp {

// A certificate for sessions, read again when its files change. Empty without files: TLS is not
// offered then.
tls::watched_certificate watch_certificate(runtime::host& host, const tls::certificate_files& pair);

} // namespace tempinbox::smtp
