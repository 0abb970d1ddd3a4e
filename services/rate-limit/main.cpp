#include "common/runtime/run.hpp"
#include "rate-limit/service.hpp"

int main(int argc, char** argv)
{
    using namespace tempinbox;
    return runtime::run("rate-limit", "counts requests against each account's daily limit", argc,
                        argv, rate_limit::read_settings,
                        [](runtime::host& host, rate_limit::settings chosen) {
                            return std::make_unique<rate_limit::service>(host, std::move(chosen));
                        });
}
