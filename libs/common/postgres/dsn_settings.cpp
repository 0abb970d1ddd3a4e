#include "common/postgres/dsn_settings.hpp"

#include "common/postgres/dsn.hpp"
#include "common/runtime/file_watch.hpp"

#include <stdexcept>

namespace tempinbox::postgres {
namespace {

constexpr const char* invalid =
    "must be postgresql://user:password@host:5432/name or host=… user=… dbname=…, special "
    "characters of a URL's password as %40";

std::string setting_text(const std::string& name)
{
    return "--" + name + " (" + config::environment_name(name) + ")";
}

} // namespace

std::string read_dsn_file(const std::string& file)
{
    auto dsn = runtime::read_one_line(file);
    if (!is_valid_dsn(dsn))
        throw std::runtime_error(file + " " + invalid);
    return dsn;
}

dsn_settings read_dsn_settings(config::reader& reader, std::string_view meaning, bool is_required)
{
    constexpr const char *given_itself = "database", *given_by_file = "database-file";
    dsn_settings chosen;
    chosen.dsn = reader.text(given_itself, "", meaning);
    reader.mark_secret(given_itself);
    const auto problems_before = reader.problems().size();
    chosen.file = reader.readable_file(
        given_by_file, "",
        "File with one line that is given instead of database; read again when it changes");
    if (!chosen.dsn.empty() && !chosen.file.empty()) {
        reader.add_problem(given_itself,
                           "must not be given together with " + setting_text(given_by_file));
    } else if (!chosen.dsn.empty()) {
        if (!is_valid_dsn(chosen.dsn))
            reader.add_problem(given_itself, invalid);
    } else if (chosen.file.empty()) {
        if (is_required)
            reader.add_problem(given_itself,
                               "or " + setting_text(given_by_file) + " must be given");
    } else if (reader.problems().size() == problems_before) {
        try {
            chosen.dsn = read_dsn_file(chosen.file);
        } catch (const std::exception& error) {
            // All problems with the settings are listed at once.
            reader.add_problem(given_by_file, error.what());
        }
    }
    return chosen;
}

} // namespace tempinbox::postgres
