#include "extract/link_kinds.hpp"

#include "common/core/text.hpp"
#include "extract/vocabulary.hpp"

#include <string>

namespace tempinbox::extract {
namespace {

constexpr const char* unsubscribe_words =
    R"(unsub|opt[-_ ]?out|list-?manage|(?:e-?mail|mail|contact|communication|subscription)[-_ ]?(?:preferences|settings)|manage[-_ ]?(?:your[-_ ]?|my[-_ ]?)?(?:e-?mail[-_ ]?)?(?:preferences|subscription|notifications)|notification[-_ ]?settings|(?:update|change|edit|adjust) (?:your |my )?(?:e-?mail |mailing )?(?:preferences|subscription)|^preferences$|stop (?:receiving|these)|no longer (?:wish|want)|)"
    R"(abmelden|abbestellen|austragen|d[eé]sabonn|d[eé]sinscri|(?:g[eé]rer|modifier) (?:mes|vos) (?:pr[eé]f[eé]rences|abonnements)|/pr[eé]f[eé]rences|cancelar (?:la |a |tu |sua |minha )?(?:suscripci|subscri|inscri|assinatura)|dar(?:se|me|te)? de baja|descadastr|remover inscri|disiscri|cancella(?:ti|re)? (?:l'|la )?iscrizione|annulla l'iscrizione|uitschrijv|afmelden|)"
    R"(wypisz|wypisa|rezygnacja z|zrezygnuj|odhl[aá]sit|odhl[aá]si[tť]|leiratkoz|dezabon|avregistrera|avprenumerera|avmeld|afmeld|framelding|peruuta (?:tilaus|uutiskirje)|aboneli[gğ]|listeden [cç][iı]k|отписа|відписа|отпис|διαγραφ|κατ[άα]ργηση εγγραφ|إلغاء الاشتراك|الغاء الاشتراك|لغو اشتراک|הסר|הסרה|ביטול (?:מנוי|הרשמה)|सदस्यता (?:समाप्त|रद्द)|ยกเลิก|h[uủ]y [dđ][aă]ng k[yý]|berhenti berlangganan|退订|退訂|取消订阅|取消訂閱|配信停止|配信解除|購読解除|登録解除|수신 ?거부|구독 ?(?:취소|해지))";

constexpr const char* reset_words =
    R"((?:reset|change|forgot|forgotten|recover|restore|new|set|choose|create)[-_ /]*(?:a[-_ ]*)?(?:your[-_ ]*|my[-_ ]*|the[-_ ]*)?(?:new[-_ ]*)?(?:account[-_ ]*)?pass(?:word|wd|code)?\b|pass(?:word|wd)[-_ /]*(?:reset|recovery|change|forgot)|account[-_ /]?recovery|)"
    R"((?:passwort|kennwort)[^\n]{0,24}(?:zur[uü]cksetzen|[aä]ndern|vergeben|vergessen|festlegen|w[aä]hlen)|(?:neues|dein|ihr) (?:passwort|kennwort)|wachtwoord|mots? de passe|contrase[nñ]a|(?:redefin|recuper|alter|trocar|nova)[^\s\d:.,#(]* (?:a |sua |minha |de )?(?:senha|palavra-passe)|(?:reimpost|recuper|cambia|nuova|ripristin)[^\s\d:.,#(]* (?:la |della )?password|)"
    R"((?:zresetuj|resetuj|ustaw|zmie[nń]|odzyskaj|nowe|zresetowa[cć]|resetowa[^\s\d:.,#(]*|zmian[^\s\d:.,#(]*) (?:nowe )?has[lł][^\s\d:.,#(]*|(?:obnov|zm[eě]n|nov|resetov)[^\s\d:.,#(]* (?:sv[eé] |va[sš]e )?hesl|jelsz[oó]|(?:reset|schimb|parol[aă] nou)[^\s\d:.,#(]* parol|[aå]terst[aä]ll|nytt l[oö]senord|nulstil|ny adgangskode|tilbakestill|nytt passord|(?:vaihda|nollaa|uusi) salasana|)"
    R"([sş]ifre[^\s\d:.,#(]* (?:s[iı]f[iı]rla|de[gğ]i[sş]tir|yenile|unut)[^\s\d:.,#(]*|парол[^\s\d:.,#(]*|(?:επαναφορ|αλλαγ|ν[έε]ο)[^\s\d:.,#(]* (?:του )?κωδικ|كلمة (?:المرور|السر)|رمز عبور|סיסמה|पासवर्ड|รหัสผ่าน|m[aậ]t kh[aẩ]u|kata sandi|重置密码|重設密碼|重置密碼|修改密码|找回密码|更改密碼|忘记密码|忘記密碼|パスワード|비밀번호)";

constexpr const char* verify_words =
    R"(verif|confirm|activat|validat|magic[-_ ]?link|(?:sign|log)[-_ ]?in[-_ ]?link|double[-_ ]?opt[-_ ]?in|[?&=/]opt[-_]?in\b|complete[-_ ]?(?:your[-_ ]?)?(?:registration|sign[-_ ]?up)|finish (?:signing up|registration|creating)|accept[-_ ]?(?:the[-_ ]?|your[-_ ]?)?invit|join (?:the )?(?:team|workspace)|yes, subscribe|(?:yes,? )?(?:it['’]s|it was|this (?:is|was)|that was) me\b|)"
    R"(best[aä]tig|aktivier|einladung annehmen|anmeldung abschlie|activer|valider|v[eé]rifi|accepter l['’]invitation|finaliser|activa(?:r|tu|)\b|activar|validar|aceptar (?:la )?invitaci|ativar|aceitar (?:o )?convite|verific|conferma|attiva|completa la registrazione|accetta|bevestig|activeer|verifieer|)"
    R"(potwierd|aktywuj|zweryfikuj|dokon[cč]|ov[eě][rř]it|potvr[dď]|aktivova|er[oő]s[ií]tse|meger[oő]s[ií]t|aktiv[aá]l|bekr[aä]fta|aktivera|verifiera|bekr[aæ]ft|bekreft|aktiver|vahvista|aktivoi|onayla|do[gğ]rula|etkinle[sş]tir|подтверд|активир|підтверд|активу|потвърд|επιβεβα|επαλ[ήη]θ|ενεργοπο|تأكيد|تأكد|تفعيل|تحقق|تأیید|تایید|אימות|אשר|אישור|הפעל|सत्यापित|सत्यापन|पुष्टि|ยืนยัน|x[aá]c (?:minh|nh[aậ]n|th[uự]c)|k[ií]ch ho[aạ]t|verifikasi|konfirmasi|aktifkan|)"
    R"(验证|驗證|確認(?:する|リンク|メール|はこちら)|メール\S{0,9}確認|認証|承認|本登録|有効化|激活|啟用|确认(?:邮箱|邮件|地址|注册)|確認(?:郵件|信箱|地址|註冊|您的)|인증|확인(?:하기|하려면|해)|활성화)";

// Words of confirming without a request to confirm: `View order confirmation`.
constexpr const char* not_verify_words =
    R"((?:order|booking|reservation|payment|purchase|shipping|shipment|delivery|travel|trip|flight|hotel|ticket|appointment|transaction)s?[-_ /]*confirm(?:ations?|ed)\b|orders?/[^/?]{1,64}/confirmation\b|confirmation (?:of|for) (?:your |the )?(?:order|booking|reservation|payment|purchase)|(?:view|see|show|print|download) (?:(?:your|my|the|full) )*confirmation\b|)"
    R"((?:bestell(?:ungs)?|auftrags|buchungs|reservierungs|zahlungs|termin|versand|liefer)best[aä]tigung|confirmation de (?:la |votre )?(?:commande|r[eé]servation|paiement|livraison)|confirmaci[oó]n (?:de|del) (?:tu |su |la )?(?:pedido|reserva|compra|pago)|confirma[cç][aã]o (?:de|do|da) (?:seu |sua )?(?:pedido|reserva|compra|pagamento)|conferma (?:d['’]|dell['’]|del |della |di )(?:ordine|prenotazione|pagamento|acquisto)|)"
    R"((?:order|bestel|boekings|reserverings|betalings)bevestiging|potwierdzeni\S* (?:zam[oó]wieni|rezerwacj|p[lł]atno)|подтвержден\S* (?:заказ|брон|оплат)|ord(?:er|re)bekr[aäæe]ftelse|tilausvahvistus|ご?注文の?確認|订单确认|訂單確認|주문 ?확인)";

// Clauses on why the mail came, or came in error, are not about the link: `If you did not ask for a
// password reset, click here`.
constexpr const char* aside_words =
    R"((?:if you (?:did not|didn['’]t|have not|haven['’]t|never) (?:request|ask|initiat|make|made|sign|creat|try|tri|want|attempt|authori|perform|expect|start|register)|because you|(?:falls|wenn) (?:sie|du) [^,.]{0,60}(?:nicht|kein)[^,.]{0,40}(?:angeforder|angefrag|beantrag|veranlass|gestell|erstell|registrier|versuch)|weil (?:sie|du) |)"
    R"(si vous n['’](?:avez|[eê]tes) pas |si (?:usted |t[uú] )?no (?:has |ha |hiciste|lo |la )?(?:solicit|pedi|fuiste|intent|cre|realiz)|porque (?:te |se |has |ha )|se (?:voc[eê] )?n[aã]o (?:solicit|pedi|foi |fez |tent|cri|realiz)|porque voc|se non (?:hai|ha|sei) |perch[eé] (?:hai|ti) |als (?:je|u|jij) [^,.]{0,60}(?:niet|geen)[^,.]{0,40}(?:aangevraag|gevraag|verzoch)|omdat (?:je|u) ))"
    R"([^,.;:!\n]{0,100}?(?:[,.;:!\n]|\bplease\b|\bclick\b|$))";

constexpr const char* sign_in_words =
    R"((?:\b|_)(?:sign|log)[-_ ]?in(?:to)?(?:\b|_)|(?:sign|logg)ing[-_ ]in|(?:\b|_)o?auth2?(?:\b|_)|authenticat|authori[sz]e\b|anmelden|einloggen|connecte[rz]|connexion|inici(?:a|ar) (?:la )?ses|inicia sess|\bacced(?:e|er|a|i)\b|\bentrar\b|inlogg|zaloguj|p[rř]ihl[aá]s|\blog(?:ga in|g inn| ind)\b|kirjaudu|giri[sş]|войти|увійти|вход|دخول|כניסה|ログイン|登录|登入|로그인)";

// The whole text says no more than that it is a link.
constexpr const char* pointer_words =
    R"((?:please )?(?:(?:click|tap|press|go|follow|use|open|visit)(?: on)? ?)?(?:right )?(?:here|this|(?:this |the |that )?(?:link|button|page|url|address)(?: (?:here|below|above))?)?(?: to (?:continue|proceed))?(?: now)?|click me|continue|next|proceed|go|go ahead|(?:let['’]s )?(?:get )?started?(?: now| here)?|let['’]s go|(?:continue|start|begin|open|visit|link|yes|ok)(?: now| here)?|)"
    R"((?:bitte )?(?:(?:klick(?:en)?|klicke)(?: sie)?(?: bitte)?(?: auf)? ?)?(?:hier|diese[nrms]? (?:link|seite|adresse|button)|link|den link)?(?: klicken)?|weiter|fortfahren|los geht['’]?s|(?:jetzt )?(?:starten|loslegen|beginnen)|fortsetzen|)"
    R"((?:(?:cliquez|cliquer|clique)(?: sur)? )?(?:ici|(?:ce|le) (?:lien|bouton)|lien)|continuer|poursuivre|commencer|d[eé]marrer|suivant|c['’]est parti|)"
    R"((?:(?:haz|haga|hacer|da|d[eé]) clic(?: en)? |pulsa(?: en)? |pulse(?: en)? )?(?:aqu[ií]|este (?:enlace|link|bot[oó]n)|(?:el )?enlace)|continuar|empezar|comenzar|comienza|siguiente|seguir|(?:clique|clica|clicar)(?: em| no)? (?:aqui|este link|link)|este link|esta liga[cç][aã]o|come[cç]ar|prosseguir|pr[oó]ximo|)"
    R"((?:(?:clicca|cliccando|fai clic|clic)(?: su)? )?(?:qui|(?:questo |il )?link|questo pulsante)|continua|prosegui|procedi|inizia|avanti|(?:klik(?: op)? )?(?:hier|deze (?:link|knop)|de link)|doorgaan|ga (?:verder|door)|verder|aan de slag|beginnen|begin|volgende|)"
    R"((?:kliknij )?(?:tutaj|tu|(?:w )?ten (?:link|przycisk))|kontynuuj|dalej|rozpocznij|zaczynamy|(?:klikn[eě]te |klikni )?(?:zde|sem|tu|na tento odkaz|tento odkaz|odkaz)|pokra[cč]ova[tť]|pokra[cč]uj|za[cč][ií]t|za[cč]a[tť]|(?:kattints(?:on)? )?(?:ide|itt|erre a linkre)|tov[aá]bb|folytat[aá]s|kezd[eé]s|(?:click |ap[aă]s(?:a[tț]i|[aă]) |face[tț]i clic )?(?:aici|acest link)|continu[aă](?:[tț]i)?|[iî]ncepe[tț]?i?|)"
    R"((?:klicka )?(?:h[aä]r|p[aå] l[aä]nken|(?:den h[aä]r )?l[aä]nken)|forts[aä]tt|kom ig[aå]ng|(?:klikk? )?(?:her|p[aå] (?:linket|lenken)|dette link|denne lenken)|forts[aæe]tt?|kom i gang|(?:klikkaa |napsauta |paina )?(?:t[aä]st[aä]|t[aä]ss[aä]|t[aä][aä]lt[aä]|t[aä]t[aä] linkki[aä]|t[aä]m[aä] linkki)|jatka|aloita|)"
    R"((?:l[uü]tfen )?(?:buraya|burada|buradan|bu ba[gğ]lant[iı](?:ya)?|ba[gğ]lant[iı])?(?: ?t[iı]kla(?:y[iı]n(?:[iı]z)?)?)?|devam(?: et(?:mek)?)?|(?:hemen )?ba[sş]la(?:y[iı]n)?|)"
    R"((?:(?:нажмите|кликните|перейдите|щелкните|щёлкните)(?: на| по)? )?(?:здесь|тут|сюда|(?:по )?(?:этой )?ссылк[аеу]|эту ссылку)|продолжить|далее|начать|перейти|(?:(?:натисніть|клацніть|перейдіть)(?: на| за)? )?(?:тут|сюди|(?:за )?(?:цим )?посиланням?|це посилання)|продовжити|далі|почати|(?:(?:натиснете|кликнете) )?(?:тук|този линк|връзката)|продължи|напред|започни|)"
    R"((?:(?:κάντε κλικ|πατήστε|κλικ) )?(?:εδώ|(?:αυτόν τον )?σύνδεσμο|σύνδεσμος)|συν[έε]χεια|συνεχίστε|ξεκινήστε|έναρξη|(?:(?:اضغط|انقر|اضغطي)(?: على)? )?(?:هنا|(?:هذا )?الرابط)|متابعة|استمرار|التالي|ابدأ(?: الآن)?|(?:اینجا|این لینک)(?: (?:را )?کلیک کنید)?|ادامه|شروع|(?:(?:לחץ|לחצו|לחצי|לחץ/י)(?: על)? )?(?:כאן|קישור זה|הקישור)|המשך|להמשך|התחל|)"
    R"((?:यहाँ|यहां|इस लिंक)(?: पर)?(?: क्लिक करें)?|जारी रखें|शुरू करें|(?:คลิก)?(?:ที่นี่|ลิงก์นี้)|คลิก|ดำเนินการต่อ|ต่อไป|เริ่ม(?:ต้น)?|(?:(?:nh[aấ]n|nh[aấ]p|b[aấ]m)(?: v[aà]o)? )?(?:(?:t[aạ]i |[oở] )?[dđ][aâ]y|li[eê]n k[eế]t n[aà]y)|ti[eế]p t[uụ]c|b[aắ]t [dđ][aầ]u|(?:klik )?(?:di ?sini|tautan ini)|lanjut(?:kan)?|mulai|)"
    R"(请?(?:点击|点|點擊|點選|按)?(?:这里|此处|此|這裡|此處|这儿|此?链接|此?連結|該連結|该链接)|继续|繼續|下一步|(?:立即)?(?:开始|開始)|(?:こちら|ここ|(?:この)?リンク|次のリンク)(?:から|へ)?(?:を?クリック(?:してください)?)?|続ける|続行(?:する)?|次へ(?:進む)?|進む|はじめる|始める|(?:여기|이 ?링크|링크)(?:를|을)? ?(?:클릭|눌러)?(?:하세요| ?주세요|하기)?|바로 ?가기|계속(?:하기)?|시작(?:하기)?|다음)";

// A secret in the URL, which makes a link to a sign-in page sign in by itself.
constexpr const char* token_in_url =
    R"([?&#](?:t|tok|token|code|key|k|sig|hash|otp|secret|ticket|nonce|magic|[a-z]+_token)=[^&]{4}|/(?:magic|callback|otl|otp)\b|/[0-9a-z_-]*[0-9][0-9a-z_-]{18,})";

struct link_patterns
{
    RE2 unsubscribe{unsubscribe_words, case_blind()};
    RE2 reset{reset_words, case_blind()};
    RE2 verify{verify_words, case_blind()};
    RE2 not_verify{not_verify_words, case_blind()};
    RE2 aside{aside_words, case_blind()};
    RE2 pointer{std::string(R"(^[^\pL\pN]*(?:)") + pointer_words + R"()[^\pL\pN]*$)", case_blind()};
    RE2 sign_in{sign_in_words, case_blind()};
    RE2 token{token_in_url, case_blind()};
    RE2 page{R"re(^(?:https?://|www\.)|^\S{0,60}\.\S{2,}/\S*$)re",
             // A text that is the address itself.
             case_blind()};
};

const link_patterns& compiled_patterns()
{
    static const link_patterns compiled;
    return compiled;
}

std::string without(std::string_view words, const RE2& pattern)
{
    std::string left(words);
    RE2::GlobalReplace(&left, pattern, " ");
    return left;
}

const char* kind_of_words(std::string_view words)
{
    const auto& all = compiled_patterns();
    if (words.empty())
        return nullptr;
    if (says(words, all.unsubscribe))
        return "unsubscribe";
    if (says(words, all.reset))
        return "reset";
    return says(words, all.verify) && says(without(words, all.not_verify), all.verify) ? "verify"
                                                                                       : nullptr;
}

// Path and query only: a host such as verify.example says little about one link.
std::string_view without_host(std::string_view url)
{
    const auto scheme = url.find("://");
    const auto from = scheme == std::string_view::npos ? 0 : scheme + 3;
    const auto path = url.find_first_of("/?#", from);
    return path == std::string_view::npos ? std::string_view{} : url.substr(path);
}

} // namespace

bool is_pointer(std::string_view text)
{
    return says(text, compiled_patterns().pointer) || says(text, compiled_patterns().page);
}

const char* kind_of_link(std::string_view url, std::string_view text, std::string_view words_around)
{
    const auto& all = compiled_patterns();
    const bool points = is_pointer(text);
    const auto words = without(points ? words_around : text, all.aside);
    if (!points)
        if (const auto* kind = kind_of_words(words))
            return kind;
    const auto path = without_host(url);
    if (const auto* kind = kind_of_words(path))
        return kind;
    if (says(path, all.token) && says(words, all.sign_in))
        return "verify";
    const auto* kind = points ? kind_of_words(words) : nullptr;
    return kind ? kind : "other";
}

} // namespace tempinbox::extract
