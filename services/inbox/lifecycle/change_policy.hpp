#pragma once

#include "common/async/batcher.hpp"

#include <chrono>

namespace tempinbox::inbox {

// Changes of one kind (creations, ends, marks, deletions) that come while a transaction is under
// way go in the next one. A further one begins only while transactions are slow (a locked inbox) or
// once as many as go into one are there.
// Nothing is begun for a caller who has given up (after 5 s) and perhaps asked for something else.
constexpr async::batch_policy change_policy{.max_in_flight = 4,
                                            .slow_after = std::chrono::milliseconds(20),
                                            .max_items = 128,
                                            .timeout = std::chrono::milliseconds(4'500)};

} // namespace tempinbox::inbox
