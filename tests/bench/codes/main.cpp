// Precision and recall of the codes and links found in tests/corpus, and how fast they are found.
// Fails where the codes of a kind or a language fall below the floor recorded for it.

#include "corpus/corpus.hpp"
#include "mime/view.hpp"
#include "tally.hpp"

#include <chrono>
#include <cstdio>

using namespace tempinbox;

namespace {

void print_row(const std::string& name, const bench::language_tally& row)
{
    std::printf("%-8s %5d   %5.3f  %5.3f   %5.3f  %5.3f   %5.3f  %5.3f  %5.3f\n", name.c_str(),
                row.mails, row.first_code.precision.value(), row.first_code.recall.value(),
                row.any_code.precision.value(), row.any_code.recall.value(),
                row.links.precision.value(), row.links.recall.value(), row.kinds.value());
}

// Prints the rows and returns how many are below their floor, or have none.
int print_codes(const char* heading, const std::map<std::string, bench::code_tally>& rows,
                const std::map<std::string, corpus::accuracy_floor>& floors)
{
    std::printf("\n%-40s texts  prec.  recall\n", heading);
    int below = 0;
    for (const auto& [name, row] : rows) {
        const double precision = row.codes.precision.value();
        const double recall = row.codes.recall.value();
        const auto floor = floors.find(name);
        const bool is_below = floor == floors.end() || precision < floor->second.precision ||
                              recall < floor->second.recall;
        below += is_below ? 1 : 0;
        std::printf("%-40s %5d  %5.3f  %5.3f%s\n", name.c_str(), row.texts, precision, recall,
                    !is_below               ? ""
                    : floor == floors.end() ? "  has no floor"
                                            : "  is below its floor");
    }
    return below;
}

// Returns whether every floor holds.
bool print_accuracy(const std::vector<corpus::expected_mail>& mails)
{
    bench::tally counted;
    for (const auto& mail : mails)
        counted.add(mail, corpus::examine(mail.raw));
    for (const auto& line : corpus::read_lines())
        counted.add(line, corpus::examine_line(line));

    std::puts("language mails   first code     any code       links          kinds");
    std::puts("                 prec.  recall  prec.  recall  prec.  recall");
    for (const auto& [language, row] : counted.languages())
        print_row(language, row);
    print_row("total", counted.total());
    const auto floors = corpus::read_floors();
    const int below =
        print_codes("codes by kind", counted.codes_by_kind(), floors.kinds) +
        print_codes("codes by language", counted.codes_by_language(), floors.languages);
    std::printf("\n%zu misses\n", counted.misses().size());
    for (const auto& miss : counted.misses())
        std::printf("  %s\n", miss.c_str());
    return below == 0;
}

// At least a second of complete passes over the corpus, on one thread.
template <class Work>
void print_speed(const char* name, const std::vector<corpus::expected_mail>& mails,
                 const Work& work)
{
    const auto began = std::chrono::steady_clock::now();
    std::chrono::duration<double> taken{};
    double bytes = 0;
    std::size_t examined = 0;
    while (taken.count() < 1) {
        for (const auto& mail : mails) {
            work(mail.raw);
            bytes += static_cast<double>(mail.raw.size());
            ++examined;
        }
        taken = std::chrono::steady_clock::now() - began;
    }
    std::printf("%-18s %8.1f MB/s  %8.0f mails/s\n", name, bytes / 1e6 / taken.count(),
                static_cast<double>(examined) / taken.count());
}

} // namespace

int main()
{
    const auto mails = corpus::read_all();
    const bool is_good = print_accuracy(mails);
    std::puts("\nspeed, one thread");
    print_speed("view", mails, [](const std::string& raw) { mime::read_view(raw); });
    print_speed("view and findings", mails, [](const std::string& raw) { corpus::examine(raw); });
    return is_good ? 0 : 1;
}
