#include "common/runtime/run.hpp"
#include "webhook-dispatcher/service.hpp"

int main(int argc, char** argv)
{
    using namespace tempinbox;
    return runtime::run(
        "webhook-dispatcher",
        "Stores webhook endpoints and routing rules, and delivers events to the endpoints.", argc,
        argv, webhooks::read_settings, [](runtime::host& host, const webhooks::settings& chosen) {
            return std::make_unique<webhooks::service>(host, chosen);
        });
}
