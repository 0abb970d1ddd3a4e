#include "common/runtime/master_keys.hpp"

#include "common/runtime/file_watch.hpp"

#include <stdexcept>

namespace tempinbox::runtime {
namespace {

constexpr const char* setting = "master-key-file";

crypto::keyring read_keyring(const std::string& file)
{
    auto keys = crypto::keyring::parse(read_small_file(file));
    if (!keys)
        throw std::runtime_error(file + ": " + keys.error().message);
    return std::move(*keys);
}

prometheus::Gauge& position(metrics::registry& metrics, const std::string& key_id)
{
    return metrics.gauge("tempinbox_master_key_position",
                         "Position of a key in the master-key-file in use, 1 for the one that "
                         "seals, 0 once the key is out of the file",
                         {{"key", key_id}});
}

} // namespace

master_key_settings read_master_key_settings(config::reader& reader, std::string_view purpose)
{
    master_key_settings chosen;
    const auto problems_before = reader.problems().size();
    chosen.file =
        reader.readable_file(setting, "",
                             "Keys that seal " + std::string(purpose) +
                                 ": one `id:` and 32 bytes in base64 per line, the first is "
                                 "current; read again when it changes");
    if (chosen.file.empty()) {
        reader.add_problem(setting, "must be set");
    } else if (reader.problems().size() == problems_before) {
        try {
            chosen.keys = read_keyring(chosen.file);
        } catch (const std::exception& error) {
            // All problems with the settings are listed at once.
            reader.add_problem(setting, error.what());
        }
    }
    return chosen;
}

master_keys::master_keys(host& host, master_key_settings chosen, std::function<void()> on_change)
    : metrics_(host.metrics()),
      file_(std::move(chosen.file)),
      keys_(std::move(chosen.keys))
{
    show();
    if (file_.empty())
        return;
    watched_ = host.files().watch(setting, {file_}, [this] { load(); });
    // Not called for the first reading: what it refers to may not exist yet.
    on_change_ = std::move(on_change);
}

void master_keys::load()
{
    auto changed = read_keyring(file_);
    for (const auto& id : keys_.ids())
        position(metrics_, id).Set(0);
    keys_ = std::move(changed);
    show();
    if (on_change_)
        on_change_();
}

void master_keys::show()
{
    double at = 0;
    for (const auto& id : keys_.ids())
        position(metrics_, id).Set(++at);
}

} // namespace tempinbox::runtime
