#include "common/kafka/client_reloader.hpp"

#include "common/kafka/login.hpp"
#include "common/log/log.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace tempinbox::kafka {
namespace {

// Bundles of every public authority have a quarter of that.
constexpr std::size_t max_located_bytes = 4 * 1024 * 1024;

// All that the files hold, to know whether a client needs to be made anew: Kubernetes replaces the
// links of all files of a Secret when one of them changes. A folder of certificates changes when a
// name in it does.
std::string read_located(const std::map<std::string, std::string>& properties)
{
    std::string content;
    for (const auto& file : located_files(properties)) {
        content += file + "\n";
        if (std::filesystem::is_directory(file))
            content +=
                std::to_string(std::filesystem::last_write_time(file).time_since_epoch().count());
        else
            content += runtime::read_small_file(file, max_located_bytes);
    }
    return content;
}

std::vector<std::string> watched_files(const settings& chosen,
                                       const std::map<std::string, std::string>& properties)
{
    auto files = located_files(properties);
    files.insert(files.begin(), chosen.properties_file);
    return files;
}

void require_login(const settings& chosen)
{
    for (const auto& problem : login_problems(chosen, library_in_use()))
        throw std::runtime_error(std::string(problem.setting) + " " + problem.text);
}

} // namespace

client_reloader::client_reloader(runtime::host& host, settings chosen, make_client make)
    : host_(host),
      make_(std::move(make)),
      settings_(std::move(chosen))
{}

client_handle client_reloader::start()
{
    require_login(settings_);
    located_content_ = read_located(settings_.properties);
    auto first = make_anew();
    watch();
    return first;
}

void client_reloader::watch()
{
    // Files that changed since the settings were read are put to use at once.
    if (!settings_.properties_file.empty()) {
        properties_watch_ = host_.files().watch("kafka-properties-file",
                                                watched_files(settings_, settings_.properties),
                                                [this] { read_properties_again(); });
        properties_watch_.set_files(watched_files(settings_, settings_.properties));
    }
    if (!settings_.password_file.empty())
        password_watch_ = host_.files().watch("kafka-sasl-password-file", {settings_.password_file},
                                              [this] { read_password_again(); });
    if (!settings_.client_secret_file.empty())
        client_secret_watch_ =
            host_.files().watch("kafka-sasl-client-secret-file", {settings_.client_secret_file},
                                [this] { read_client_secret_again(); });
}

void client_reloader::stop()
{
    properties_watch_ = {};
    password_watch_ = {};
    client_secret_watch_ = {};
}

client_handle client_reloader::make_anew()
{
    settings chosen;
    {
        const std::lock_guard lock(mutex_);
        chosen = settings_;
    }
    return make_(chosen);
}

void client_reloader::read_properties_again()
{
    // Only the loop changes the settings, so it may read them without the lock.
    auto chosen = settings_;
    chosen.properties = read_properties(chosen.properties_file);
    require_login(chosen);
    // Files that do not exist yet are looked for from now on, too.
    properties_watch_.set_files(watched_files(chosen, chosen.properties));
    auto content = read_located(chosen.properties);
    if (chosen.properties == settings_.properties && content == located_content_)
        return;
    use(std::move(chosen));
    located_content_ = std::move(content);
}

// librdkafka takes no new secret for a client that it has, and one with the old secret would fetch
// no further token.
void client_reloader::read_client_secret_again()
{
    auto chosen = settings_;
    chosen.client_secret = secret(runtime::read_one_line(chosen.client_secret_file));
    if (chosen.client_secret.reveal() != settings_.client_secret.reveal())
        use(std::move(chosen));
}

// Makes a client of the settings, which are in use from then on.
void client_reloader::use(settings chosen)
{
    auto client = make_(chosen);
    const std::lock_guard lock(mutex_);
    settings_ = std::move(chosen);
    replacements_.push_back(std::move(client));
    is_due_ = true;
    is_changed_ = true;
}

void client_reloader::read_password_again()
{
    secret fresh(runtime::read_one_line(settings_.password_file));
    if (fresh.reveal() == settings_.password.reveal())
        return;
    const std::lock_guard lock(mutex_);
    settings_.password = std::move(fresh);
    has_new_password_ = true;
    is_changed_ = true;
}

client_handle client_reloader::take(rd_kafka_t* current)
{
    if (!is_changed_)
        return {};
    std::vector<client_handle> replacements;
    std::string user, password;
    bool has_new_password = false;
    {
        const std::lock_guard lock(mutex_);
        is_changed_ = false;
        is_due_ = false;
        replacements = std::exchange(replacements_, {});
        has_new_password = std::exchange(has_new_password_, false);
        if (has_new_password) {
            user = settings_.properties.at("sasl.username");
            password = settings_.password.reveal();
        }
    }
    client_handle next;
    if (!replacements.empty())
        next = std::move(replacements.back());
    if (has_new_password) {
        auto* const refused = rd_kafka_sasl_set_credentials(next ? next.get() : current,
                                                            user.c_str(), password.c_str());
        if (refused != nullptr) {
            log::error("the kafka client did not take the password",
                       {{"reason", rd_kafka_error_string(refused)}});
            rd_kafka_error_destroy(refused);
        }
    }
    return next;
}

} // namespace tempinbox::kafka
