#include "common/runtime/run.hpp"
#include "gateway/service.hpp"

using namespace tempinbox;

int main(int argc, char** argv)
{
    return runtime::run(
        "gateway", "The public REST API: keys, plans, quota, inboxes, emails, webhooks.", argc,
        argv, gateway::read_settings, [](runtime::host& host, const gateway::settings& chosen) {
            return std::make_unique<gateway::service>(host, chosen);
        });
}
