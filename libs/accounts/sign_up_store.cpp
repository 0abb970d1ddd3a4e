#include "accounts/sign_up_store.hpp"

#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <cstdint>

namespace tempinbox::accounts {
namespace {

constexpr std::size_t digits = 8;

constexpr postgres::statement put_code{
    "sign_ups_put", "INSERT INTO accounts.sign_ups (email, code_sha256, expires_at)"
                    " VALUES ($1, $2, now() + $3::bigint * interval '1 second')"
                    " ON CONFLICT (email) DO UPDATE SET code_sha256 = excluded.code_sha256, "
                    "expires_at = excluded.expires_at,"
                    " wrong_codes = 0"};
// A guess is counted before it is compared, so that concurrent guesses are serialized.
constexpr postgres::statement count_guess{
    "sign_ups_count_guess",
    "UPDATE accounts.sign_ups SET wrong_codes = wrong_codes + 1"
    " WHERE email = $1 AND expires_at > now() AND wrong_codes < $2 RETURNING code_sha256 = $3"};
constexpr postgres::statement delete_code{"sign_ups_delete",
                                          "DELETE FROM accounts.sign_ups WHERE email = $1"};

std::string digest_of(const std::string& email, std::string_view code)
{
    return crypto::sha256(email + "\n" + std::string(code));
}

} // namespace

secret make_sign_up_code()
{
    // With 64 random bits, no digit is noticeably likelier than another.
    std::uint64_t number = 0;
    for (const char byte : crypto::random_bytes(sizeof number))
        number = number << 8 | static_cast<unsigned char>(byte);
    std::string code(digits, '0');
    for (auto& digit : code) {
        digit = static_cast<char>('0' + number % 10);
        number /= 10;
    }
    return secret(std::move(code));
}

sign_up_store::sign_up_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {put_code, count_guess, delete_code})
        db_.prepare(statement);
}

awaitable<void> sign_up_store::put(std::string_view email, std::string_view code)
{
    auto address = to_lower_ascii(email);
    auto digest = digest_of(address, code);
    return db_.transact([address = std::move(address), digest = std::move(digest)](pqxx::work& tx) {
        tx.exec_prepared0(put_code.name, address, pqxx::binarystring(digest),
                          std::chrono::seconds(lifetime).count());
    });
}

awaitable<bool> sign_up_store::take(std::string_view email, std::string_view code)
{
    auto address = to_lower_ascii(email);
    auto digest = digest_of(address, code);
    return db_.transact([address = std::move(address), digest = std::move(digest)](pqxx::work& tx) {
        const auto rows = tx.exec_prepared(count_guess.name, address, max_wrong_codes,
                                           pqxx::binarystring(digest));
        if (rows.empty() || !rows[0][0].as<bool>())
            return false;
        tx.exec_prepared0(delete_code.name, address);
        return true;
    });
}

} // namespace tempinbox::accounts
