#include "common/runtime/run.hpp"
#include "mail-ingest/service.hpp"

int main(int argc, char** argv)
{
    using namespace tempinbox;
    // Three quarters of it are for messages under way (service::drain).
    constexpr std::chrono::seconds drain_timeout{40};
    return runtime::run(
        "mail-ingest", "Receives mail over SMTP and stores it before it acknowledges it.", argc,
        argv, mail_ingest::read_settings,
        [](runtime::host& host, const mail_ingest::settings& chosen) {
            return std::make_unique<mail_ingest::service>(host, chosen);
        },
        drain_timeout);
}
