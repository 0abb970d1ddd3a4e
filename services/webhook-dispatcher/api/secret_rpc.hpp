#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/crypto/sealing.hpp"
#include "common/rpc/server.hpp"

#include "tempinbox/webhooks/v1/secret_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs of an operator who rotates the master key: secrets sealed with another key are opened
// and sealed with this process's first key, one batch a call. The secrets themselves stay the same,
// so no cache needs to be invalidated.
class secret_rpc
{
public:
    secret_rpc(endpoint_repository& endpoints, const crypto::keyring& keys)
        : endpoints_(endpoints),
          keys_(keys)
    {}

    void add_to(rpc::server& server);

    awaitable<result<v1::CountSecretsResponse>> count(v1::CountSecretsRequest request);
    awaitable<result<v1::ResealSecretsResponse>> reseal(v1::ResealSecretsRequest request);

private:
    endpoint_repository& endpoints_;
    const crypto::keyring& keys_;
};

} // namespace tempinbox::webhooks
