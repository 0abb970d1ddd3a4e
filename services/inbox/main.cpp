#include "common/runtime/run.hpp"
#include "inbox/service.hpp"

int main(int argc, char** argv)
{
    using namespace tempinbox;
    return runtime::run("inbox", "Creates, expires and reads inboxes and their mail, by RPC.", argc,
                        argv, inbox::read_settings,
                        [](runtime::host& host, const inbox::settings& chosen) {
                            return std::make_unique<inbox::service>(host, chosen);
                        });
}
