// Brings the database schemas of the suite to their newest version. Safe to run again and by many
// at once.
#include "common/config/reader.hpp"
#include "common/core/version.hpp"
#include "common/postgres/dsn_settings.hpp"
#include "common/postgres/migrations.hpp"
#include "migrations/schemas.hpp"

#include <sodium.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace tempinbox;

constexpr const char* purpose = "brings the database schemas to their newest version";

struct settings
{
    std::string database;
    std::string schema;
};

settings read_settings(config::reader& read)
{
    settings chosen;
    chosen.database =
        postgres::read_dsn_settings(
            read, "libpq connection string of a user who may create schemas and tables")
            .dsn;
    chosen.schema =
        read.choice("schema", "all", {"all", "accounts", "mailbox", "quota", "webhooks"},
                    "which schema to bring up to date");
    return chosen;
}

int migrate(const settings& chosen)
{
    std::vector<postgres::schema_files> schemas;
    for (const auto schema : migrations::schemas())
        if (chosen.schema == "all" || chosen.schema == schema)
            schemas.push_back(migrations::of_schema(schema));
    if (const auto history = postgres::check_history(chosen.database, schemas); !history) {
        std::fprintf(stderr, "%s\n", history.error().message.c_str());
        return 1;
    }
    for (const auto& files : schemas) {
        const char* name = files.schema.c_str();
        const auto applied = postgres::migrate(chosen.database, files);
        if (!applied) {
            std::fprintf(stderr, "schema %s: %s\n", name, applied.error().message.c_str());
            return 1;
        }
        for (const int version : applied->versions)
            std::printf("schema %s: migration %04d applied\n", name, version);
        for (const auto& function : applied->functions)
            std::printf("schema %s: functions/%s.sql applied\n", name, function.c_str());
        if (applied->empty())
            std::printf("schema %s: up to date\n", name);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (sodium_init() < 0)
        return 1;
    config::reader declaring;
    read_settings(declaring);
    const auto line = config::read_command_line(argc, argv, declaring.declared());
    if (line.requested == config::command_line::action::show_help) {
        std::fputs(config::help_text("tempinbox-migrate", purpose, declaring.declared()).c_str(),
                   stdout);
        return 0;
    }
    if (line.requested == config::command_line::action::show_version) {
        std::puts(std::string(version()).c_str());
        return 0;
    }
    if (line.requested == config::command_line::action::print_settings) {
        std::fputs(
            config::settings_json("tempinbox-migrate", purpose, declaring.declared()).c_str(),
            stdout);
        return 0;
    }
    if (!line.unknown_variables.empty())
        std::fprintf(stderr, "warning: not settings of this program: %s\n",
                     config::list_unknown_variables(line.unknown_variables).c_str());
    config::reader reading(line.values);
    const auto chosen = read_settings(reading);
    auto problems = line.problems;
    problems.insert(problems.end(), reading.problems().begin(), reading.problems().end());
    for (const auto& problem : problems)
        std::fprintf(stderr, "%s\n", problem.c_str());
    if (!problems.empty()) {
        std::fputs("--help lists every setting.\n", stderr);
        return 2;
    }
    if (line.requested == config::command_line::action::check_config) {
        std::puts("settings are good");
        return 0;
    }
    try {
        return migrate(chosen);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cannot migrate: %s\n", error.what());
        return 1;
    }
}
