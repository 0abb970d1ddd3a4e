#pragma once

#include "common/kafka/client.hpp"
#include "common/runtime/host.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace tempinbox::kafka {

// Keeps one client of librdkafka by the files that its settings name. When the properties change,
// or a certificate or key that they name, or the client's secret of OAUTHBEARER, a new client is
// made on the loop; the poll thread exchanges the old one for it where nothing is in flight. A new
// password goes to the client that there is, which uses it for its next connections. Content that
// cannot be used changes nothing (runtime::file_watch).
class client_reloader
{
public:
    // On any thread.
    using make_client = std::function<client_handle(const settings&)>;

    client_reloader(runtime::host& host, settings chosen, make_client make);
    client_reloader(const client_reloader&) = delete;

    // On the loop. Makes the first client; watches the files until `stop`. Throws if the files or
    // settings cannot be used.
    client_handle start();
    void stop();

    // On any thread: a client by the settings in use.
    client_handle make_anew();

    // On the poll thread. Whether `take` has a new client.
    bool is_due() const { return is_due_; }
    // A new client, or none. Gives a new password to it, or else to `current`.
    client_handle take(rd_kafka_t* current);

private:
    void read_properties_again();
    void read_password_again();
    void read_client_secret_again();
    void use(settings chosen);
    void watch();

    runtime::host& host_;
    const make_client make_;
    std::mutex mutex_;
    settings settings_; // in use
    // The last one is to be used; the others are kept for the poll thread to end, which may block.
    std::vector<client_handle> replacements_;
    bool has_new_password_ = false;
    std::atomic<bool> is_due_{false};
    std::atomic<bool> is_changed_{false};
    // Used on the loop.
    std::string located_content_; // of the files that the properties name
    runtime::file_watch::subscription properties_watch_;
    runtime::file_watch::subscription password_watch_;
    runtime::file_watch::subscription client_secret_watch_;
};

} // namespace tempinbox::kafka
