#include "extract/link_kinds.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace tempinbox;

TEST_CASE("what a link says decides before its URL, both before the words in front", "[extract]")
{
    const std::vector<std::array<std::string, 4>> links = {
        {"https://a.test/verify/1", "Unsubscribe", "", "unsubscribe"},
        {"https://a.test/reset-password?k=1", "Confirm", "", "verify"},
        {"https://a.test/l/1", "here", "To reset your password, click", "reset"},
        {"https://a.test/l/1", "Terms", "By confirming your email you agree to our", "other"},
        {"https://a.test/l/1", "contact support", "If you didn't request a password reset, please",
         "other"},
        {"https://a.test/l/1", "Privacy policy", "You get this because you confirmed your email.",
         "other"},
        {"https://a.test/l/1", "Read the story of the week", "Please confirm your address.",
         "other"},
        {"https://a.test/login", "Log in", "", "other"},
        {"https://a.test/login?token=8c1d2e", "Log in", "", "verify"},
        {"https://verify.test/blog", "Blog", "", "other"},
        {"https://a.test/x", "https://a.test/x", "Подтвердите почту:", "verify"},
        {"https://a.test/x", "비밀번호 재설정", "", "reset"},
        {"https://a.test/x", "إلغاء الاشتراك", "", "unsubscribe"},
    };
    for (const auto& [url, text, before, kind] : links) {
        INFO(url << " / " << text << " / " << before);
        CHECK(extract::kind_of_link(url, text, before) == kind);
    }
}

TEST_CASE("a text that only points takes the words around it", "[extract]")
{
    for (const char* text : {"",
                             "here",
                             "Click here",
                             "click this link »",
                             "This link",
                             "Continue",
                             "→ Continue now",
                             "Get started",
                             "Let’s go!",
                             "hier",
                             "Klicken Sie hier",
                             "Weiter",
                             "ici",
                             "Cliquez ici",
                             "aquí",
                             "Haz clic aquí",
                             "Continuar",
                             "clique aqui",
                             "qui",
                             "Fai clic qui",
                             "Continua",
                             "Klik hier",
                             "Kliknij tutaj",
                             "Dalej",
                             "zde",
                             "Klikněte zde",
                             "ide",
                             "Kattintson ide",
                             "Click aici",
                             "Klicka här",
                             "Fortsätt",
                             "Klik her",
                             "Fortsett",
                             "Klikkaa tästä",
                             "Buraya tıklayın",
                             "Devam et",
                             "Нажмите здесь",
                             "Перейти",
                             "Натисніть тут",
                             "Натиснете тук",
                             "Πατήστε εδώ",
                             "اضغط هنا",
                             "متابعة",
                             "اینجا کلیک کنید",
                             "לחצו כאן",
                             "यहाँ क्लिक करें",
                             "คลิกที่นี่",
                             "Nhấn vào đây",
                             "Klik di sini",
                             "点击这里",
                             "點擊此處",
                             "こちらをクリック",
                             "こちら",
                             "여기를 클릭하세요",
                             "계속하기",
                             "https://a.test/l/1",
                             "www.a.test",
                             "a.test/l/1"}) {
        INFO(text);
        CHECK(extract::is_pointer(text));
        CHECK(extract::kind_of_link("https://a.test/l/1", text, "Confirm your email address:") ==
              std::string("verify"));
    }
    for (const char* text :
         {"Help", "Terms", "Privacy policy", "Contact support", "Hierarchy", "There", "Continued",
          "Learn more", "Read more", "View in browser", "Impressum", "Datenschutz", "Aide", "Ayuda",
          "Помощь", "隐私政策", "お問い合わせ", "a.test"}) {
        INFO(text);
        CHECK_FALSE(extract::is_pointer(text));
        CHECK(extract::kind_of_link("https://a.test/l/1", text, "Confirm your email address:") ==
              std::string("other"));
    }
}

TEST_CASE("the confirmation of an order confirms no address", "[extract]")
{
    for (const char* text :
         {"View order confirmation", "Booking confirmation", "See your confirmation",
          "Bestellbestätigung ansehen", "Confirmation de commande", "Confirmación de tu pedido",
          "Conferma d'ordine", "Подтверждение заказа"})
        CHECK(extract::kind_of_link("https://a.test/o/1", text, "") == std::string("other"));
    CHECK(extract::kind_of_link("https://a.test/orders/17/confirmation", "View", "") ==
          std::string("other"));
    for (const char* text : {"Confirm order", "Confirmation link",
                             "Confirm your email to see your order confirmation", "Bestätigung"})
        CHECK(extract::kind_of_link("https://a.test/o/1", text, "") == std::string("verify"));
    CHECK(extract::kind_of_link("https://a.test/users/confirmation?confirmation_token=8c1d2e", "x",
                                "") == std::string("verify"));
}

TEST_CASE("words of signing in are whole words", "[extract]")
{
    const std::string url = "https://a.test/n?key=8c1d2eff";

    for (const char* text : {"About the authors", "Connect with us", "Design intro",
                             "The blog index", "Iniciativa", "Procedi"}) {
        INFO(text);
        CHECK(extract::kind_of_link(url, text, "") == std::string("other"));
    }
    for (const char* text : {"Sign in", "Log-in to Acme", "Authenticate", "Se connecter",
                             "Iniciar sesión", "Accedi", "Entrar"})
        CHECK(extract::kind_of_link(url, text, "") == std::string("verify"));
}

TEST_CASE("what was not asked for is not what a link is for", "[extract]")
{
    const std::string url = "https://a.test/l/1";

    CHECK(extract::kind_of_link(url, "", "If you did not ask for a password reset, see") ==
          std::string("other"));
    CHECK(extract::kind_of_link(url, "here",
                                "You get this because you confirmed your email. For help click") ==
          std::string("other"));
    CHECK(extract::kind_of_link(url, "hier",
                                "Falls Sie kein neues Passwort angefordert haben, klicken Sie") ==
          std::string("other"));
    CHECK(extract::kind_of_link(url, "here", "If you haven't confirmed your address yet, click") ==
          std::string("verify"));
    CHECK(extract::kind_of_link(url, "here", "If you did not sign up, unsubscribe") ==
          std::string("unsubscribe"));
}
