#include "extract/codes.hpp"

#include "common/runtime/thread_cpu.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox;

namespace {

std::optional<html::visible_page> page_of(const std::string& html)
{
    return html::read_visible_page(html);
}

std::string best(const std::string& subject, const std::string& text)
{
    const auto found = extract::find_codes(subject, text, std::nullopt);
    return found.empty() ? "" : found.front().value;
}

std::vector<std::string> all(const std::string& subject, const std::string& text)
{
    std::vector<std::string> values;
    for (const auto& found : extract::find_codes(subject, text, std::nullopt))
        values.push_back(found.value);
    return values;
}

} // namespace

TEST_CASE("the one-time code of a mail is found", "[extract]")
{
    const std::vector<std::array<std::string, 3>> mails = {
        {"Your verification code",
         "Hello,\n\nyour verification code is 482913.\n\nIt expires in 10 minutes.\n", "482913"},
        {"482913 is your Example code", "Use it to sign in.", "482913"},
        {"Sign in to Example",
         "Enter this code to sign in:\n\n    730 118\n\nIf it was not you, ignore this mail.\n",
         "730118"},
        {"Security alert", "G-904512 is your Google verification code.", "904512"},
        {"Your login code", "X7K9QP\n", "X7K9QP"},
        {"Confirm your e-mail", "Please confirm with this code: ABCD-1234\n", "ABCD-1234"},
        {"Welcome", "Your one-time passcode: 0042\n", "0042"},
        {"OTP", "12345678 is your OTP. Do not share it. (c) 2024 Example Inc.", "12345678"},
        {"Ihr Bestätigungscode", "Ihr Bestätigungscode lautet 55123.\n", "55123"},
        {"Código de verificación", "Tu código es 640221\n", "640221"},
        {"验证码", "您的验证码是 381920，10 分钟内有效。", "381920"},
        {"Your PIN", "PIN: 2024\n", "2024"},
        {"Log in", "Your code:\n\n9 9 9\n\n771204\n\nSent 2024-01-02 to a@b.test", "771204"},
    };
    for (const auto& [subject, text, code] : mails) {
        INFO(subject << " / " << text);
        CHECK(best(subject, text) == code);
    }
}

TEST_CASE("a code is found though its sentence names what it is for", "[extract]")
{
    for (const char* text : {
             "Use this code to verify your account: 482913",
             "The code to access your account is 482913.",
             "Your verification code to log in to your account is 482913.",
             "The code to confirm your request is 482913.",
             "Your OTP for this transaction is 482913.",
             "Enter this code to confirm your order: 482913",
             "The security code for your payment card is 482913",
             "The PIN to collect your parcel is 482913.",
             "Your Acme account code is 482913",
             "Bestätigungscode für Ihr Kundenkonto: 482913",
             "Code de vérification de votre compte client : 482913",
             "Le code pour valider votre commande est 482913",
             "El código para confirmar tu pedido es 482913",
             "O código de verificação do cliente é 482913",
             "Il codice di verifica per il tuo ordine è 482913",
             "Код подтверждения заказа: 482913",
             "رمز تأكيد الطلب: 482913",
             "Kod autoryzacyjny przelewu na rachunek 1234: 482913",
             "Your phone verification code is 482913",
             "Enter this code to verify your phone: 482913",
             "Mobile verification code: 482913",
             "Your WhatsApp code: 482-913",
             "Your T-Mobile verification code is 482913",
             "Your Call of Duty login code is 482913",
             "Código para verificar tu teléfono: 482913",
             "電話番号の認証コード：482913",
             "手机电话验证码：482913",
             "Your SuperEvent code is 482913",
             "Your OTP is 482913.Do not share it",
             "Your code is ***482913***",
             "Your code is __482913__",
             // Words that mean something else, in names and after abbreviations
             "Your verification code for Google Drive is 482913",
             "Your verification code for Example Ltd. is 482913",
             "Your 2FA code for Binance is 482913. Room 77123 pending",
             "Your code:\n4\n8\n2\n9\n1\n3\nI did not ask for it",
             "Your code:\n\n4 8 2 9 1 3\n\nP.O. Box 77123",
             "Someone signed in to your Example Ltd. account. If it was you enter the code 482913.",
             "T-Mobile: 482913 is your verification code",
             "Apple Card: 482913 is your code",
             "482913 is your Acme, Inc. code",
             "482913 is your Dr. Smith Clinic verification code",
             "482913 is your Yahoo! Mail verification code",
             "Use this code to verify your Office 365 account: 482913",
             "Your verification code for 1Password is 482913",
             "Enter this code to log in to Parcel2Go: 482913",
             "Your Deutsche Bank code is 482913",
             "482913 ist dein Deutsche Bank-Code",
             "Ihr Bestätigungscode für T-Mobile lautet 482913",
             "Votre code Apple Card est : 482913",
             "Introduce este código en Call of Duty: 482913",
             "Mein Kontoの認証コードは482913です。",
             "رمز التحقق الخاص بك في Google Drive هو 482913",
             "Codul tău de verificare Via Verde este 482913",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "482913");
    }
}

TEST_CASE("letters alone are a code where their sentence says so, but words in capitals are none",
          "[extract]")
{
    CHECK(best("Hello", "KQWXZR is your Acme code.") == "KQWXZR");
    CHECK(best("Hello", "Your verification code for Booking.com is KQWXZR.") == "KQWXZR");
    CHECK(best("Hello", "ABC-DEF is your Google Drive code.") == "ABC-DEF");
    CHECK(best("Hello", "1a2b3c is your Example Ltd. code.") == "1a2b3c");
    for (const char* text : {
             "Your verification code is EXPIRED",
             "Your verification code is now INVALID.",
             "Your verification code for Acme is REQUIRED to log in",
             "NEVER share your security code with ANYONE",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "");
    }
}

TEST_CASE("the value that a noun states beats words in capitals and numbers between them",
          "[extract]")
{
    for (const char* text : {
             "Dear ANN, your A/C AXBKZQ (XX1245): OTP for AXBKZQ is 482913",
             "OTP for JONATHAN: 482913",
             "Your code at HOLLOW = 482913",
             "Security code for order 55120 is 482913",
             "Der Sicherheitscode für NORDKAS lautet 482913",
             "קוד האימות עבור KINERET הוא 482913",
             "SAKURAYAの認証コードは482913です",
         }) {
        INFO(text);
        CHECK(all("Hello", text) == std::vector<std::string>{"482913"});
    }
    CHECK(all("Hello", "Login code for NORTHW was used").empty());
}

TEST_CASE("what a sender is called does not deny the noun behind it", "[extract]")
{
    CHECK(best("Hello", "【みどり銀行】確認コードは48291です") == "48291");
    CHECK(best("Hello", "【クーポン広場】コード：48291") == "48291");
    CHECK(best("Hello", "[쿠폰마을] 확인코드는 48291입니다") == "48291");
    CHECK(best("Hello", "[Parcel Post] Code: 48291") == "48291");
    CHECK(best("Hello", "Goods & Co: security code 48291") == "48291");
    CHECK(best("Hello", "みどり銀行の確認コードは48291です") == "48291");

    CHECK(best("Hello", "銀行コード：48291") == "");
    CHECK(best("Hello", "クーポンコード：48291") == "");
}

TEST_CASE("four characters are a code alone on a line or beside their noun", "[extract]")
{
    CHECK(best("Hello", "Your code:\n\nK7RQ\n") == "K7RQ");
    CHECK(best("Hello", "Bestätigungscode P8KD") == "P8KD");
    CHECK(best("Hello", "验证码：Q8FJ") == "Q8FJ");

    CHECK(best("Hello", "Your code expires at 10pm") == "");
    CHECK(best("Hello", "Your code is for seat number A12B only") == "");
}

TEST_CASE("no blank is needed between noun, sign and value", "[extract]")
{
    for (const char* text : {"OTP=482913", "OTP:482913", "OTP#482913", "OTP-482913", "PIN#482913.",
                             "認証コード=482913", "код-482913", "رمز التحقق=482913"}) {
        INFO(text);
        CHECK(best("Hello", text) == "482913");
    }
    CHECK(best("Hello", "Your code is in /callback?code=482913&state=1") == "");
}

TEST_CASE("one-time, temporary and session passwords are codes in every language", "[extract]")
{
    for (const char* text : {
             "הסיסמה החד פעמית שלך היא 482913",
             "сеансовый пароль 482913",
             "Tu contraseña temporal es 482913",
             "482913 es tu contraseña temporal",
             "Votre mot de passe provisoire : 482913",
             "Vaše dočasné heslo je 482913",
             "كلمة المرور المؤقتة هي 482913",
             "உங்கள் ஒருமுறை கடவுச்சொல் 482913",
             "一時パスワードは482913です",
             "임시 비밀번호: 482913",
             "Ihre pushTAN lautet 482913",
             "TAC 482913 for your transfer",
             "Ваш ПИН је 482913",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "482913");
    }
    CHECK(best("Hello", "Wi-Fi password: 48291305") == "");
    CHECK(best("Hello", "Your temporary password expires in 4829 minutes") == "");
}

TEST_CASE("a value that is typed to sign in needs no noun", "[extract]")
{
    for (const char* text : {
             "請輸入 482913 以登入",
             "Enter 482913 to sign in",
             "Um sich anzumelden, bitte 482913 eingeben",
             "Чтобы войти, введите 482913",
             "Giriş yapmak için 482913 girin",
             "ログインするには482913を入力してください",
             "로그인하려면 482913을 입력하세요",
             "लॉग इन करने के लिए 482913 दर्ज करें",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "482913");
    }
    CHECK(best("Hello", "Use 4829 points to complete your order") == "");
    CHECK(best("Hello", "使用4829积分完成注册") == "");
}

TEST_CASE("a code keeps its prefix of letters, and may be words", "[extract]")
{
    CHECK(best("Hello", "We sent you an OTP. To approve, use HTW-191206") == "HTW-191206");
    CHECK(best("Hello", "Your code is sable-tofu-iguana-lemon") == "sable-tofu-iguana-lemon");
    CHECK(best("Hello", "Ihr Anmeldecode lautet birne-segel-kerze") == "birne-segel-kerze");

    CHECK(best("Hello", "Your code is state-of-the-art") == "");
    CHECK(best("Hello", "Order HTW-191206 has shipped, no code is needed") == "");
}

TEST_CASE("digits stand in groups of any blank, dash or dot", "[extract]")
{
    for (const char* text :
         {"Your code is 482 - 913", "Your code is 482-913", "Your code is 482  913",
          "Your code is 482–913", "Your code:\n\n482 — 913", "Security code: 482·913",
          "Your code is 482.913", "Your code is 482 • 913", "認証コード：482・913",
          "Your code is 48 - 29 - 13", "Your code is 4-8-2-9-1-3",
          "Your code is 4 · 8 · 2 · 9 · 1 · 3"}) {
        INFO(text);
        CHECK(best("Hello", text) == "482913");
    }
    for (const char* text : {"Your code expires on 12.03.26", "Your code expires: 12-03-26",
                             "Codes 1000 - 2000 are reserved", "Total: 482.913 EUR, code follows",
                             "Your code runs on version 482.913"}) {
        INFO(text);
        CHECK(best("Hello", text) == "");
    }
}

TEST_CASE("one-time codes are found in the languages of the world", "[extract]")
{
    for (const char* text : {
             "El teu codi de verificació és 482913",
             "Vaša potrditvena koda je 482913",
             "Jūsų patvirtinimo kodas: 482913",
             "Jūsu apstiprinājuma kods ir 482913",
             "Sinu kinnituskood on 482913",
             "Staðfestingarkóðinn þinn er 482913",
             "Kodi juaj i verifikimit është 482913",
             "আপনার যাচাইকরণ কোড 482913",
             "آپ کا تصدیقی کوڈ 482913 ہے",
             "உங்கள் சரிபார்ப்புக் குறியீடு 482913",
             "మీ ధృవీకరణ కోడ్ 482913",
             "รหัสยืนยันของคุณคือ 482913",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "482913");
    }
}

TEST_CASE("a number that has a name of its own is no code, though one is spoken of", "[extract]")
{
    for (const char* text : {
             "Your code was used for order number: 482913",
             "Enter the code we sent you. Order: 482913",
             "Your code is on its way\nAccount: 482913",
             "Use this code for your order 482913",
             "Questions about your code? Call us: 482913",
             "Your code will come by text message, phone support 482913",
             "Your code is in log 482913.txt",
             "Your card code ends in ***482913",
             "Membership 482913 is your ID. Enter your code to log in.",
             "Ticket 482913 is your reference code",
             "Order 482913 is waiting for your code",
             "Your code expired in 2025.",
             "In 2026 we verify codes",
             "Your login code was used.\nReply STOP to 48294 to opt out.",
             "Your login code was used.\nDevice: iPhone14",
             "Your login code was used.\n1600 Amphitheatre Parkway, Mountain View",
             "Your bank will ask for a code. Bank code: 10020030",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "");
    }
}

TEST_CASE("the year of a footer is no code, whatever stands above it", "[extract]")
{
    for (const char* text : {
             "Welcome!\n\nSet up two-factor authentication\n\n© 2026 Acme Inc.",
             "Write code with us\n\n© 2026 Acme",
             "Print your backup codes\n© 2026 Acme",
             "Your security code\nCopyright 2026 Acme",
             "Someone signed in with a recovery code\n\nOn 14 July 2026",
             "Ihr Sicherheitscode wurde benutzt\n\nam 14. Juli 2026",
             "Votre code de sécurité\n\n© 2026 Acme SARL",
         }) {
        INFO(text);
        CHECK(best("Hello", text) == "");
    }
    CHECK(best("Your PIN", "Your PIN:\n\n2026\n") == "2026");
}

TEST_CASE("what is no code is not taken for one", "[extract]")
{
    const std::vector<std::pair<std::string, std::string>> mails = {
        {"Newsletter", "Copyright 2024 Example Inc. All rights reserved."},
        {"Receipt", "Total: $1299.00, order number 48291375, thank you for your purchase"},
        {"Your parcel", "Tracking number 9400110200881234 - call +1 415 555 2671"},
        {"Hello", "Call us at 415-555-2671 for your verification questions"},
        {"Meeting", "On 12.05.2024 at 1430 in room 4096"},
        {"Invoice 2024-1881", "Invoice number 20241881 is due. IBAN DE89 3704 0044 0532 0130 00"},
        {"Visit us", "Example Inc., 1600 Amphitheatre Parkway, Mountain View, CA 94043"},
        {"Sale", "Save up to 5000 EUR, discount of 1000 points"},
        {"Your code review", "Changes at https://example.test/pull/123456 by dev"},
    };
    for (const auto& [subject, text] : mails) {
        INFO(subject << " / " << text);
        CHECK(best(subject, text) == "");
    }
}

TEST_CASE("a code says where it stands, in characters", "[extract]")
{
    const auto found = extract::find_codes(
        "Grüße", std::string("Größe: ä\nIhr Bestätigungscode: 482913\n"), std::nullopt);

    REQUIRE(found.size() == 1);
    CHECK(found[0].part == "text");
    CHECK(found[0].offset == 31);
    CHECK(found[0].score > 0.5);
    CHECK(found[0].score <= 1);
}

TEST_CASE("a code that only the html shows is found at its offset in the source", "[extract]")
{
    const std::string html = "<style>.x{color:#123456}</style><p>Your code</p><p><b>482913</b></p>";
    const auto found =
        extract::find_codes("Sign in", std::string("See the HTML part."), page_of(html));

    REQUIRE(found.size() == 1);
    CHECK(found[0].part == "html");
    CHECK(found[0].offset == static_cast<int>(html.find("482913")));
}

TEST_CASE("a code that nobody sees is none", "[extract]")
{
    for (const std::string& hidden :
         {"<p style='display:none'>Your code is 482913</p>",
          "<p style='visibility:hidden'>Your code is 482913</p>",
          "<p style='font-size:0'>Your code is 482913</p>",
          "<p style='color:#ffffff'>Your code is 482913</p>",
          "<p style='position:absolute;left:-9999px'>Your code is 482913</p>",
          "<div style='max-height:0;overflow:hidden'>Your code is 482913</div>",
          "<!-- Your code is 482913 -->", "<template>Your code is 482913</template>",
          "<noscript>Your code is 482913</noscript>",
          "<style>.p{display:none}</style><p class=p>Your code is 482913</p>"}) {
        INFO(hidden);
        CHECK(
            extract::find_codes("Hello", std::nullopt, page_of("<p>Welcome</p>" + hidden)).empty());
    }
    CHECK(extract::find_codes("Hello", "Your code is 482913", page_of("<p>Welcome</p>")).empty());
    CHECK(extract::find_codes("Hello", "Your code is 482913", page_of("<img src=x>")).size() == 1);
}

TEST_CASE("what is hidden among the digits of a code is no part of it, and shifts no offset",
          "[extract]")
{
    const std::string html = "<p>Your code is <b>482</b><i hidden>5€</i>913</p>";

    const auto found = extract::find_codes("Hello", std::nullopt, page_of(html));

    REQUIRE(found.size() == 1);
    CHECK(found[0].value == "482913");
    CHECK(found[0].offset == static_cast<int>(html.find("482")));
}

TEST_CASE("codes are ordered by likelihood and named once", "[extract]")
{
    const auto found = extract::find_codes(
        "Your code is 111222",
        std::string("Backup codes, token 333444 perhaps.\nYour verification code is 111222"),
        std::nullopt);

    REQUIRE_FALSE(found.empty());
    CHECK(found.front().value == "111222");
    CHECK(std::count_if(found.begin(), found.end(),
                        [](const auto& one) { return one.value == "111222"; }) == 1);
}

TEST_CASE("the PINs of a meeting and the codes of an offer are no one-time codes", "[extract]")
{
    CHECK(best("Invitation: Planning",
               "Join meeting\nMeeting ID: 875 4123 6650\nPasscode: 419024\n") == "");
    CHECK(best("10 % off", "Use code SPRING20 at checkout.") == "");
    CHECK(best("Receipt", "Subtotal 8.25\nAuth code 083114\n") == "");
}

TEST_CASE("the nearest name of a number counts", "[extract]")
{
    CHECK(best("Your order",
               "Confirmation code: 482913\nOrder number: 771204\nProduct code: 993311\n") ==
          "482913");
    CHECK(best("Hello", "Postal code 90210, discount code 48213, error code 5034") == "");
    CHECK(best("Hello", "Login code for your Example account: 482913") == "482913");
}

TEST_CASE("hostile text costs linear time", "[extract][torture-33]")
{
    const auto started = runtime::thread_cpu();
    for (const std::string unit : {"code 123456 ",
                                   "<a href=x ",
                                   "1111-",
                                   "https://a.test/",
                                   "code: ",
                                   "<",
                                   "&nbsp;",
                                   "a1",
                                   ")",
                                   "&amp;",
                                   "https://a.test/)",
                                   "<a href=http://a.test/>",
                                   "1 ",
                                   "<!--",
                                   "<script>",
                                   "4 8 ",
                                   "&#x",
                                   "code ",
                                   "://",
                                   "Amount: 4711\n"}) {
        std::string text;
        while (text.size() < 2'000'000)
            text += unit;
        extract::find_codes(text, text, page_of(text));
        extract::find_codes(text, text, std::nullopt);
        extract::find_links(text, page_of(text));
        extract::find_links(text, std::nullopt);
    }
    CHECK(runtime::thread_cpu() - started < std::chrono::seconds(20));
}

TEST_CASE("a URL or a link of nothing but marks or entities costs linear time",
          "[extract][torture-33]")
{
    const auto started = runtime::thread_cpu();
    const std::string marks = "https://a.test/" + std::string(250'000, ')');
    CHECK(extract::find_links(marks, std::nullopt).at(0).url == "https://a.test/");
    std::string entities = "<a href=\"https://a.test/?";
    while (entities.size() < 250'000)
        entities += "&amp;";
    CHECK(extract::find_links(std::nullopt, page_of(entities + "\">x</a>")).empty());
    CHECK(runtime::thread_cpu() - started < std::chrono::seconds(5));
}

TEST_CASE("only the first 256 KiB that are seen are searched", "[extract][torture-33]")
{
    const std::string padding(256 * 1024, ' ');
    const std::string late = padding + "Your verification code is 482913: https://a.test/verify";
    CHECK(extract::find_codes("x", late, std::nullopt).empty());
    CHECK(extract::find_links(late, std::nullopt).empty());
    CHECK(extract::find_codes("x", late.substr(1'000), std::nullopt).size() == 1);
}

TEST_CASE("homographs and tracking parameters come back as they were sent", "[extract][torture-33]")
{
    // The first letter of the host is Cyrillic.
    const auto links = extract::find_links(
        std::string("https://\xd0\xb0pple.test/verify?utm_source=x&t=1"), std::nullopt);
    REQUIRE(links.size() == 1);
    CHECK(links[0].url == "https://\xd0\xb0pple.test/verify?utm_source=x&t=1");
    // Digits of any script come back as ASCII.
    const auto codes =
        extract::find_codes("Your code", std::string("Your code is ４８２９１３"), std::nullopt);
    REQUIRE(codes.size() == 1);
    CHECK(codes[0].value == "482913");
}
