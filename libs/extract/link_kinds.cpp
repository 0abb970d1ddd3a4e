#include "extract/link_kinds.hpp"

#include "common/core/text.hpp"
#include "extract/vocabulary.hpp"

#include <string>

namespace tempinbox::extract {
namespace {

constexpr const char* unsubscribe_words =
    R"(unsub|opt[-_ ]?out|list-?manage|(?:e-?mail|mail|contact|communication|subscription)[-_ ]?(?:preferences|settings)|manage[-_ ]?(?:your[-_ ]?|my[-_ ]?)?(?:e-?mail[-_ ]?)?(?:preferences|subscription|notifications)|notification[-_ ]?settings|stop (?:receiving|these)|no longer (?:wish|want)|)"
    R"(abmelden|abbestellen|austragen|d[eé]sabonn|d[eé]sinscri|(?:g[eé]rer|modifier) (?:mes|vos) (?:pr[eé]f[eé]rences|abonnements)|/pr[eé]f[eé]rences|cancelar (?:la |a |tu |sua |minha )?(?:suscripci|subscri|inscri|assinatura)|dar(?:se|me|te)? de baja|descadastr|remover inscri|disiscri|cancella(?:ti|re)? (?:l'|la )?iscrizione|annulla l'iscrizione|uitschrijv|afmelden|)"
    R"(wypisz|wypisa|rezygnacja z|zrezygnuj|odhl[aá]sit|odhl[aá]si[tť]|leiratkoz|dezabon|avregistrera|avprenumerera|avmeld|afmeld|framelding|peruuta (?:tilaus|uutiskirje)|aboneli[gğ]|listeden [cç][iı]k|отписа|відписа|отпис|διαγραφ|κατ[άα]ργηση εγγραφ|إلغاء الاشتراك|الغاء الاشتراك|لغو اشتراک|הסר|הסרה|ביטול (?:מנוי|הרשמה)|सदस्यता (?:समाप्त|रद्द)|ยกเลิก|h[uủ]y [dđ][aă]ng k[yý]|berhenti berlangganan|退订|退訂|取消订阅|取消訂閱|配信停止|配信解除|購読解除|登録解除|수신 ?거부|구독 ?(?:취소|해지))";

constexpr const char* reset_words =
    R"((?:reset|change|forgot|forgotten|recover|restore|new|set|choose|create)[-_ /]*(?:a[-_ ]*)?(?:your[-_ ]*|my[-_ ]*|the[-_ ]*)?(?:new[-_ ]*)?(?:account[-_ ]*)?pass(?:word|wd|code)?\b|pass(?:word|wd)[-_ /]*(?:reset|recovery|change|forgot)|account[-_ /]?recovery|)"
    R"((?:passwort|kennwort)[^\n]{0,24}(?:zur[uü]cksetzen|[aä]ndern|vergeben|vergessen|festlegen|w[aä]hlen)|(?:neues|dein|ihr) (?:passwort|kennwort)|wachtwoord|mots? de passe|contrase[nñ]a|(?:redefin|recuper|alter|trocar|nova)[^\s\d:.,#(]* (?:a |sua |minha |de )?(?:senha|palavra-passe)|(?:reimpost|recuper|cambia|nuova|ripristin)[^\s\d:.,#(]* (?:la |della )?password|)"
    R"((?:zresetuj|resetuj|ustaw|zmie[nń]|odzyskaj|nowe|zresetowa[cć]|resetowa[^\s\d:.,#(]*|zmian[^\s\d:.,#(]*) (?:nowe )?has[lł][^\s\d:.,#(]*|(?:obnov|zm[eě]n|nov|resetov)[^\s\d:.,#(]* (?:sv[eé] |va[sš]e )?hesl|jelsz[oó]|(?:reset|schimb|parol[aă] nou)[^\s\d:.,#(]* parol|[aå]terst[aä]ll|nytt l[oö]senord|nulstil|ny adgangskode|tilbakestill|nytt passord|(?:vaihda|nollaa|uusi) salasana|)"
    R"([sş]ifre[^\s\d:.,#(]* (?:s[iı]f[iı]rla|de[gğ]i[sş]tir|yenile|unut)[^\s\d:.,#(]*|парол[^\s\d:.,#(]*|(?:επαναφορ|αλλαγ|ν[έε]ο)[^\s\d:.,#(]* (?:του )?κωδικ|كلمة (?:المرور|السر)|رمز عبور|סיסמה|पासवर्ड|รหัสผ่าน|m[aậ]t kh[aẩ]u|kata sandi|重置密码|重設密碼|重置密碼|修改密码|找回密码|更改密碼|忘记密码|忘記密碼|パスワード|비밀번호)";

constexpr const char* verify_words =
    R"(verif|confirm|activat|validat|magic[-_ ]?link|(?:sign|log)[-_ ]?in[-_ ]?link|double[-_ ]?opt[-_ ]?in|[?&=/]opt[-_]?in\b|complete[-_ ]?(?:your[-_ ]?)?(?:registration|sign[-_ ]?up)|finish (?:signing up|registration|creating)|accept[-_ ]?(?:the[-_ ]?|your[-_ ]?)?invit|join (?:the )?(?:team|workspace)|yes, subscribe|)"
    R"(best[aä]tig|aktivier|einladung annehmen|anmeldung abschlie|activer|valider|v[eé]rifi|accepter l['’]invitation|finaliser|activa(?:r|tu|)\b|activar|validar|aceptar (?:la )?invitaci|ativar|aceitar (?:o )?convite|verific|conferma|attiva|completa la registrazione|accetta|bevestig|activeer|verifieer|)"
    R"(potwierd|aktywuj|zweryfikuj|dokon[cč]|ov[eě][rř]it|potvr[dď]|aktivova|er[oő]s[ií]tse|meger[oő]s[ií]t|aktiv[aá]l|bekr[aä]fta|aktivera|verifiera|bekr[aæ]ft|bekreft|aktiver|vahvista|aktivoi|onayla|do[gğ]rula|etkinle[sş]tir|подтверд|активир|підтверд|активу|потвърд|επιβεβα|επαλ[ήη]θ|ενεργοπο|تأكيد|تأكد|تفعيل|تحقق|تأیید|تایید|אימות|אשר|אישור|הפעל|सत्यापित|सत्यापन|पुष्टि|ยืนยัน|x[aá]c (?:minh|nh[aậ]n|th[uự]c)|k[ií]ch ho[aạ]t|verifikasi|konfirmasi|aktifkan|)"
    R"(验证|驗證|確認(?:する|リンク|メール|はこちら)|メール\S{0,9}確認|認証|承認|本登録|有効化|激活|啟用|确认(?:邮箱|邮件|地址|注册)|確認(?:郵件|信箱|地址|註冊|您的)|인증|확인(?:하기|하려면|해)|활성화)";

constexpr const char* sign_in_words =
    R"(sign[-_ ]?in|log[-_ ]?in|auth|anmelden|einloggen|connect|connexion|iniciar|inicia|acced|entrar|inlogg|zaloguj|p[rř]ihl[aá]s|logga in|log ind|logg inn|kirjaudu|giri[sş]|войти|увійти|вход|دخول|כניסה|ログイン|登录|登入|로그인)";

// A secret of its own in the URL: what makes a link to a sign-in page a way in.
constexpr const char* token_in_url =
    R"([?&#](?:t|tok|token|code|key|k|sig|hash|otp|secret|ticket|nonce|magic|[a-z]+_token)=[^&]{4}|/(?:magic|callback|otl|otp)\b|/[0-9a-z_-]*[0-9][0-9a-z_-]{18,})";

struct link_patterns
{
    RE2 unsubscribe{unsubscribe_words, case_blind()};
    RE2 reset{reset_words, case_blind()};
    RE2 verify{verify_words, case_blind()};
    RE2 sign_in{sign_in_words, case_blind()};
    RE2 token{token_in_url, case_blind()};
    RE2 page{R"re(^(?:https?://|www\.)|^\S{0,60}\.\S{2,}/\S*$)re", case_blind()}; // a text that is the address itself
};

const link_patterns& known()
{
    static const link_patterns compiled;
    return compiled;
}

const char* kind_of_words(std::string_view words)
{
    const auto& all = known();
    if (words.empty())
        return nullptr;
    if (says(words, all.unsubscribe))
        return "unsubscribe";
    if (says(words, all.reset))
        return "reset";
    return says(words, all.verify) ? "verify" : nullptr;
}

// Path and query: a host such as verify.example says little about one link.
std::string_view without_host(std::string_view url)
{
    const auto scheme = url.find("://");
    const auto from = scheme == std::string_view::npos ? 0 : scheme + 3;
    const auto path = url.find_first_of("/?#", from);
    return path == std::string_view::npos ? std::string_view{} : url.substr(path);
}

} // namespace

const char* kind_of_link(std::string_view url, std::string_view text, std::string_view words_before)
{
    const auto& all = known();
    const bool shows_words = !says(text, all.page);
    if (shows_words)
        if (const auto* kind = kind_of_words(text))
            return kind;
    const auto path = without_host(url);
    if (const auto* kind = kind_of_words(path))
        return kind;
    const auto words = shows_words ? text : words_before;
    if (says(path, all.token) && (says(words, all.sign_in) || says(words_before, all.sign_in)))
        return "verify";
    // A button with words of its own says what it is; `here` and bare addresses need the words before.
    constexpr std::size_t longest_pointer = 24;
    if (!shows_words || count_characters(text) <= longest_pointer)
        if (const auto* kind = kind_of_words(words_before))
            return kind;
    return "other";
}

} // namespace tempinbox::extract
