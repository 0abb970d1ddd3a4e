#include "common/metrics/registry.hpp"

#include "common/metrics/process_metrics.hpp"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace tempinbox::metrics {

registry::registry() : registry_(std::make_unique<prometheus::Registry>()) {}

registry::~registry() = default;

prometheus::Counter& registry::counter(const std::string& name, const std::string& help,
                                       const labels& with)
{
    return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(with);
}

prometheus::Gauge& registry::gauge(const std::string& name, const std::string& help,
                                   const labels& with)
{
    return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(with);
}

prometheus::Histogram& registry::histogram(const std::string& name, const std::string& help,
                                           const prometheus::Histogram::BucketBoundaries& buckets,
                                           const labels& with)
{
    return prometheus::BuildHistogram()
        .Name(name)
        .Help(help)
        .Register(*registry_)
        .Add(with, buckets);
}

void registry::remove(const std::string& name, const std::string& help, prometheus::Gauge& gone)
{
    prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Remove(&gone);
}

std::string registry::text() const
{
    return prometheus::TextSerializer().Serialize(registry_->Collect()) + process_metrics_text();
}

const prometheus::Histogram::BucketBoundaries& latency_buckets()
{
    static const prometheus::Histogram::BucketBoundaries buckets{
        .0005, .001, .0025, .005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10};
    return buckets;
}

const prometheus::Histogram::BucketBoundaries& wait_buckets()
{
    static const auto buckets = [] {
        auto all = latency_buckets();
        all.insert(all.end(), {30, 60});
        return all;
    }();
    return buckets;
}

const prometheus::Histogram::BucketBoundaries& size_buckets()
{
    constexpr double kibibyte = 1024;
    static const prometheus::Histogram::BucketBoundaries buckets{
        kibibyte,        4 * kibibyte,    16 * kibibyte,    64 * kibibyte,   256 * kibibyte,
        1024 * kibibyte, 4096 * kibibyte, 16384 * kibibyte, 65536 * kibibyte};
    return buckets;
}

} // namespace tempinbox::metrics
