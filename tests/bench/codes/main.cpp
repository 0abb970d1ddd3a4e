// Precision and recall of the codes and links found in tests/corpus, and how fast they are found.

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

void print_accuracy(const std::vector<corpus::expected_mail>& mails)
{
    bench::tally counted;
    for (const auto& mail : mails)
        counted.add(mail, corpus::examine(mail.raw));

    std::puts("language mails   first code     any code       links          kinds");
    std::puts("                 prec.  recall  prec.  recall  prec.  recall");
    for (const auto& [language, row] : counted.languages())
        print_row(language, row);
    print_row("total", counted.total());
    std::printf("\n%zu misses\n", counted.misses().size());
    for (const auto& miss : counted.misses())
        std::printf("  %s\n", miss.c_str());
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
    print_accuracy(mails);
    std::puts("\nspeed, one thread");
    print_speed("view", mails, [](const std::string& raw) { mime::read_view(raw); });
    print_speed("view and findings", mails, [](const std::string& raw) { corpus::examine(raw); });
    return 0;
}
