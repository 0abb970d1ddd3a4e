#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace prometheus {
class Registry;
}

namespace tempinbox::metrics {

using labels = std::map<std::string, std::string>;

// A process's metrics. The references live as long as the registry: look one up once and keep it.
// Thread-safe.
class registry
{
public:
    registry();
    ~registry();
    registry(const registry&) = delete;

    prometheus::Counter& counter(const std::string& name, const std::string& help,
                                 const labels& with = {});
    prometheus::Gauge& gauge(const std::string& name, const std::string& help,
                             const labels& with = {});
    prometheus::Histogram& histogram(const std::string& name, const std::string& help,
                                     const prometheus::Histogram::BucketBoundaries& buckets,
                                     const labels& with = {});

    // Removes a gauge's series, for what comes and goes; the reference is invalid afterwards.
    void remove(const std::string& name, const std::string& help, prometheus::Gauge& gone);

    // Prometheus text format, process_* included.
    std::string text() const;

private:
    std::unique_ptr<prometheus::Registry> registry_;
};

// 0.5 ms … 10 s, in seconds.
const prometheus::Histogram::BucketBoundaries& latency_buckets();
// The same plus 30 s and 60 s: for operations that may wait for a client, an endpoint or a broker.
const prometheus::Histogram::BucketBoundaries& wait_buckets();
// 1 KiB … 64 MiB in powers of four.
const prometheus::Histogram::BucketBoundaries& size_buckets();

} // namespace tempinbox::metrics
