#pragma once

#include <functional>
#include <memory>

namespace boost::asio::ssl {
class context;
}

namespace tempinbox::tls {

// The context for a new connection; another one after its files changed. An empty source: no TLS of
// this kind.
using context_source = std::function<std::shared_ptr<boost::asio::ssl::context>()>;

} // namespace tempinbox::tls
