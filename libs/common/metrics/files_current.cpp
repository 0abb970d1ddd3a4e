#include "common/metrics/files_current.hpp"

namespace tempinbox::metrics {

prometheus::Gauge& files_current(registry& metrics, const std::string& setting)
{
    return metrics.gauge("tempinbox_files_current",
                         "Whether the files of a setting are in use as they are (1), 0 "
                         "while older content is used because they cannot be",
                         {{"setting", setting}});
}

} // namespace tempinbox::metrics
