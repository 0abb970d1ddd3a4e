#pragma once

#include "accounts/key_repository.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

// The account's API keys. After creation only a key's label and its first characters are shown.
awaitable<http::response> list_keys(const http::request& received, const caller& who,
                                    accounts::key_repository& keys);
awaitable<http::response> create_key(const http::request& received, const caller& who,
                                     accounts::key_repository& keys);
awaitable<http::response> delete_key(const http::request& received, const caller& who,
                                     accounts::key_repository& keys);

} // namespace tempinbox::gateway
