#include "common/postgres/error_kind.hpp"

#include <pqxx/pqxx>

#include <string_view>

namespace tempinbox::postgres {
namespace {

// PostgreSQL documentation, appendix A.
error_kind of_state(std::string_view sqlstate)
{
    if (sqlstate.starts_with("08") || sqlstate == "57P01" || sqlstate == "57P02" ||
        sqlstate == "57P03" || sqlstate == "57P05" || sqlstate == "53300" || sqlstate == "25P03" ||
        sqlstate == "25006")
        return error_kind::connection_lost;
    if (sqlstate == "57014" || sqlstate == "55P03")
        return error_kind::timed_out;
    if (sqlstate.starts_with("53") || sqlstate.starts_with("58"))
        return error_kind::out_of_resources;
    return error_kind::none;
}

} // namespace

error_kind classify(const std::exception_ptr& error)
{
    // The one place that knows the exceptions of libpqxx; it ends none of them.
    try {
        std::rethrow_exception(error);
    } catch (const pqxx::in_doubt_error&) {
        return error_kind::in_doubt;
    } catch (const pqxx::broken_connection&) {
        return error_kind::connection_lost;
    } catch (const pqxx::sql_error& caught) {
        return of_state(caught.sqlstate());
    } catch (...) {
        return error_kind::none;
    }
}

} // namespace tempinbox::postgres
