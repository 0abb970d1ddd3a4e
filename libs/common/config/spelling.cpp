#include "common/config/spelling.hpp"

#include <algorithm>
#include <numeric>

namespace tempinbox::config {
namespace {

// Levenshtein, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::string closest(std::string_view mistyped, const std::vector<std::string>& known)
{
    std::string best;
    std::size_t min_distance = mistyped.size() / 3 + 1;
    for (const auto& word : known) {
        const auto distance = edit_distance(mistyped, word);
        if (distance < min_distance) {
            min_distance = distance;
            best = word;
        }
    }
    return best;
}

} // namespace tempinbox::config
