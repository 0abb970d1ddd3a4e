#pragma once

#include "common/config/reader.hpp"
#include "common/crypto/sealing.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace tempinbox::runtime {

struct master_key_settings
{
    crypto::keyring keys;
    std::string file; // they are from; empty: they stay
};

// `master-key-file`, which must be set. `purpose` completes "Keys that seal …".
master_key_settings read_master_key_settings(config::reader& reader, std::string_view purpose);

// The keyring of a file, read again when the file changes: as one text, so that no half of it is
// ever in use. A file without a readable keyring leaves the old one in use. Used on the loop.
class master_keys
{
public:
    // `on_change` is called after each later change.
    master_keys(host& host, master_key_settings chosen, std::function<void()> on_change = {});
    master_keys(const master_keys&) = delete;

    // Valid as long as this; its content changes between two turns of the loop.
    const crypto::keyring& current() const { return keys_; }

private:
    void load();
    void show();

    metrics::registry& metrics_;
    std::string file_;
    crypto::keyring keys_;
    std::function<void()> on_change_;
    file_watch::subscription watched_;
};

} // namespace tempinbox::runtime
