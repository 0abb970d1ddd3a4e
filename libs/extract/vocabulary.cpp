#include "extract/vocabulary.hpp"

#include "extract/languages.hpp"

#include <cstdint>
#include <string>

namespace tempinbox::extract {
namespace {

constexpr const char* other_numbers =
    R"((?:(?:^|[^\p{L}])(?:order|invoice|tracking|parcel|shipment|receipt|ticket|case|ref(?:erence)?|customer|client|member(?:ship)?|list|account|booking|reservation|card|policy|contract|request|transaction|report|batch|claim|job|pipeline|commit|issue|pull request|pr|serial|model|version|build|release|zip|postal|p\.?o\.? box|suite|ste|apt|apartment|unit|room|hall|floor|building|bldg|gate|seats?|row|block|flight|train|iban|bic|swift|vat|tax|ending(?: in)?|ends (?:in|with)|extension|ext|terminal|cashier|store|lot|article|item|sku|part|isbn|barcode|page|chapter|section|line|port|error|port|id|uid|pid|reg(?:istration)?|company|licen[cs]e|patent|highway|route|channel|frequency|)"
    R"(bestell[^\s\d:.,#(]*|auftrags?[^\s\d:.,#(]*|rechnungs?[^\s\d:.,#(]*|sendungs?[^\s\d:.,#(]*|kunden[^\s\d:.,#(]*|vertrags[^\s\d:.,#(]*|vorgangs[^\s\d:.,#(]*|aktenzeichen|artikel[^\s\d:.,#(]*|konto[^\s\d:.,#(]*|z[aä]hler[^\s\d:.,#(]*|mitglieds?[^\s\d:.,#(]*|hrb|hra|plz|raum|zimmer|filiale|postfach|kvk|bestelnummer|ordernummer|klantnummer|factuurnummer|postcode|)"
    R"(facture|commande|dossier|r[eé]f|compte|client|r[eé]f[eé]rence|contrat|colis|suivi|siret|siren|rcs|bp|cedex|train|voiture|place|pedido|factura|fatura|nota fiscal|seguimiento|rastreio|cliente|contrato|contratto|referencia|refer[eê]ncia|folio|protocolo|boleto|ordine|fattura|spedizione|cap|cep|cnpj|cpf|nif|cif|cp|p\.?iva|via|calle|rua|rue|)"
    R"(zam[oó]wieni[^\s\d:.,#(]*|faktur[^\s\d:.,#(]*|paczk[^\s\d:.,#(]*|przesy[lł]k[^\s\d:.,#(]*|klient[^\s\d:.,#(]*|rachun(?:ek|k)[^\s\d:.,#(]*|nip|regon|krs|objedn[aá]vk[^\s\d:.,#(]*|faktura|i[cč]o|di[cč]|ps[cč]|rendel[eé]s[^\s\d:.,#(]*|sz[aá]mla[^\s\d:.,#(]*|ad[oó]sz[aá]m|comand[aă]|factur[aă]|order(?:nummer|nr)|fakturanummer|kundnummer|postnummer|org\.?nr|kontonummer|tilaus[^\s\d:.,#(]*|lasku[^\s\d:.,#(]*|y-tunnus|)"
    R"(sipari[sş][^\s\d:.,#(]*(?: numaras[iı])?|fatura[^\s\d:.,#(]*|takip(?: numaras[iı])?|m[uü][sş]teri[^\s\d:.,#(]*(?: numaras[iı])?|заказ[^\s\d:.,#(]*|накладн[^\s\d:.,#(]*|сч[её]т[^\s\d:.,#(]*|рахун[^\s\d:.,#(]*|замовленн[^\s\d:.,#(]*|поръчка|фактура|трек[^\s\d:.,#(]*|трек-номер|инн|кпп|огрн|бик|індекс|индекс|ттн|едрпоу|договор[^\s\d:.,#(]*|клиент[^\s\d:.,#(]*|клієнт[^\s\d:.,#(]*|)"
    R"(παραγγελ[^\s\d:.,#(]*|τιμολ[όο]γι[^\s\d:.,#(]*|λογαριασμ[^\s\d:.,#(]*|τ\.κ\.)|רחוב|הזמנה|חשבונית|לקוח|מיקוד|مספر|رقم|الطلب|طلب|الحساب|حساب|البطاقة|فاتورة|التتبع|هاتف|سفارش|شماره|बिल संख्या|संख्या|ऑर्डर|คำสั่งซื้อ|[dđ][oơ]n h[aà]ng|pesanan|resi|)"
    R"(注文番号|注文|伝票番号|伝票|お客様番号|会員番号|口座番号|品番|番号|〒|郵便番号|订单号?|訂單(?:編號)?|单号|單號|快递|编号|編號|邮编|郵遞區號|发票号?|發票號碼|号码|號碼|账号|帳號|卡号|客户号|尾号|ポイント|积分|積分|포인트|주문번호|주문|카드|계좌|운송장번호|송장번호|계좌번호|우편번호|회원번호|고객번호|청구서)"
    R"()[ .:#№*()\-]*(?:no\b\.?|nr\b\.?|nro\b\.?|num(?:ber|mer|ero|éro|er)?\b\.?|n[uú]mero\b|n[°º]|№|number|id|code|kod\w*|cod\w*|is|:)?[ .:#№*()\-]*(?:is|ist|est|es|è|é|је)?[ :#№*(]*$)";

constexpr const char* phones =
    R"((?:\btel\b|\btel\.|t[eé]l[eé]fono?\b|t[eé]l[eé]phone|telefon|phone|\bfax\b|\bcall\b|mobile|whatsapp|text us at|\bdial\b|\b(?:reply|text|send)\s\S{1,12}\sto\b|hotline|helpline|infolinia|ring os|r[uü]ckfragen|service client|appele[zr]|ll[aá]m|ligue|fale com|chiam|numero verde|linea|atenci[oó]n al|sac\b|bel ons|телефон|тел\.|звоните|поддержк|підтримк|τηλ|هاتف|اتصل|טלפון|חייגו|फ़ोन|电话|電話|客服|お問い合わせ|연락처|고객센터|전화|โทร)[^\n]{0,24}$)";

constexpr const char* money_befores =
    R"((?:[$€£¥₹₽₺₩฿₴]|\b(?:usd|eur|gbp|chf|cad|aud|jpy|inr|pln|rub|try|brl|kr|rs\.?|total|subtotal|price|amount|balance|fare|betrag|summe|preis|montant|prix|importe|precio|valor|totale|importo|kwota|cena|tutar|сумма|сума|к оплате|합계|결제금액|이체금액)|金额|金額|合計|ご請求額|実付|المجموع)[ :.]*$)";

constexpr const char* money_afters =
    R"(^(?:[.,][0-9]{2}\b|\s?(?:[$€£¥₹₽₺₩฿₴]|(?:usd|eur|gbp|chf|pln|euros?|dollars?|cents?|kr|sek|nok|dkk|k[cč]|ft|lei|tl|try|z[lł]|руб|грн|лв|reais|pesos|ريال|درهم|جنيه|تومان)(?:[^\p{L}]|$)|%|円|元|圆|원|บาท|₫|ש"ח)))";

constexpr const char* units_after =
    R"(^(?:[- ]?(?:minutes?|mins?|hours?|hrs?|days?|seconds?|secs?|s|ms|years?|months?|weeks?|times|people|users|items|points?|pts|lines?|readers|members|mb|gb|kb|tb|mbps|px|pt|pm|am|kg|km|mm|cm|mi|kwh|kw|mhz|hz|dpi|uhr|minuten|stunden|tage|punkte|minutes|heures|jours|minutos|horas|d[ií]as|dias|puntos|pontos|minuti|ore|giorni|punti|minut|godzin|punkt[oó]w|minuter|минут|часов|дней|баллов|хвилин|dakika|saat|puan)\b| ?(?:°|分|秒|時間|小时|分钟|分鐘|天|日|名|人|個|个|件|点|點|月|年|분|시간|일|명|개|점|장)|x[0-9]))";

constexpr const char* dates_before =
    R"((?:\b(?:jan|feb|mar|m[aä]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|ene|abr|ago|dic|fev|set|out|gen|mag|giu|lug|ott|janv|f[eé]vr|avr|juin|juil|ao[uû]t|sty|lut|kwi|maj|cze|lip|sie|wrz|pa[zź]|lis|gru)|янв|фев|апр|мая|июн|июл|авг|сен|окт|ноя|дек|©|copyright|\(c\)|[0-9]{1,2}[./-][0-9]{1,2}[./-])[^\n0-9]{0,14}$)";

constexpr const char* right_before_years =
    R"(\b(?:in|since|until|before|after|by|im|seit|bis|en|depuis|desde|dal|od)\s$)";

constexpr const char* years_before =
    R"(\b(?:since|seit|depuis|desde|dal|od|in|im|en|of|year)\b[^\n0-9]{0,14}$)";

constexpr const char* imprints =
    R"(©|\(c\)|copyright|all rights reserved|\b(?:gmbh|mbh|inc|ltd|llc|llp|plc|corp|s\.?a\.?r\.?l|s\.?a\.?s|s\.?r\.?l|s\.?l|b\.?v|a\.?s|s\.?p\.?a|lda|ltda|oyj?|ab|aps|sp\. z o\.o|s\.r\.o|kft|a\.ş|ооо|оао|тов|еоод|株式会社|有限公司)[.,) ]|\b(?:street|avenue|blvd|boulevard|road|drive|parkway|pkwy|highway|suite|p\.?o\.? box)\b|(?-i:[0-9]{5} [A-ZÄÖÜ][^\s\d]{2,})|stra(?:ß|ss)e [0-9]|\p{L}str\. ?[0-9]|\b(?:rue|calle|avenida|via|rua|ul\.|ulica|cad\.|sok\.|piazza)\b|ул\.|вул\.|〒|icp)";

constexpr const char* persons_after = R"(^ ?(?:様|さま|さん|殿|님|씨|先生|女士|小姐))";

constexpr const char* capital_words =
    R"(^(?:below|above|attached|enclosed|inside|following|invalid|expired|expires?|required?|correct|incorrect|wrong|valid|active|inactive|used|unused|ready|private|secret|secure|unique|missing|needed|blocked|locked|disabled|enabled|changed|updated|pending|accepted|rejected|personal|sensitive|always|never|anyone|anybody|nobody|everyone|please|thanks|unten|oben|ung[uü]ltig|abgelaufen|geheim|expir[eé]e?|invalide?|secreto?|privado?|personnel|inv[aá]lido|caducado|expirado|scaduto|valido)$)";

constexpr const char* access_subjects =
    R"(\b(?:verif\w*|confirm\w*|2fa|sign[- ]?(?:in|up|ing)\b|log[- ]?in|logging in|register\w*|registration|password|account|welcome|willkommen|bienvenue|bienvenid|bem-vind|benvenut|welkom|witaj|v[aä]lkommen|velkommen|tervetuloa|ho[sş] geldin|authori[sz]\w*|approve|access|authenticat\w*|identity|it is you)|anmeld|best[aä]tig|freischalt|zugang|registrier|connexion|confirmez|inscription|inici\w+ (?:de )?sesi|iniciar|confirma|acceso|redefini|acess|accedi|accesso|conferma|registra|inlog|bevestig|logowani|potwierd|rejestrac|p[rř]ihl[aá][sš]|bekr[aæä]ft|bekreft|inlogg|innlogg|kirjau|vahvist|giri[sş]|do[gğ]rula|onay|вход|вхід|подтверд|підтверд|регистрац|реєстрац|потвърд|σ[ύυ]νδεσ|επαλ[ήη]θ|تأكيد|تسجيل|الدخول|כניסה|אימות|सत्यापन|ยืนยัน|x[aá]c minh|verifikasi|認証|確認|ログイン|登録|登录|登入|验证|驗證|注册|인증|로그인|확인)";

constexpr const char* meetings =
    R"(meeting id|one tap mobile|join (?:the |our |zoom |teams |webex )?meeting|dial[- ]in|or dial:|phone conference|conference (?:id|call)|meeting number|invit\w+ you to a (?:scheduled )?(?:\w+ )?meeting|besprechungs-?id|einwahl|id de r[eé]union|id de (?:la )?reuni[oó]n|ミーティング ?id|会议(?:号|id)|會議號|회의 ?id|идентификатор конференции)";

constexpr const char* receipts =
    R"(\bsubtotal\b|\bcashier\b|change due|card ending|\b(?:visa|mastercard|amex|maestro)\b[ *x.]{2,}|zwischensumme|kassenbon|sous-total)";

constexpr const char* offers =
    R"([0-9] ?% (?:off|rabatt|de r[eé]duction|de descuento|de desconto|di sconto|korting|zni[zż]ki|indirim|discount)|-[0-9]+ ?%|\b(?:at|with) checkout\b|save (?:up to )?[$€£]|shop now|promo code|discount code|coupon|gutschein|code promo|cup[oó]n|cupom|buono sconto|kortingscode|промокод|купон|クーポン|优惠券|優惠券|쿠폰)";

// One field of every language as one alternation, `~` written out. \p{L}* would take a thousand
// states each time.
std::string all_of(const char* language_words::* field)
{
    std::string all;
    for (const auto& language : languages()) {
        const std::string_view words = language.*field;
        if (!words.empty())
            all.append(all.empty() ? "" : "|").append(words);
    }
    return all;
}

std::string written_out(std::string_view pattern)
{
    std::string out;
    for (const char c : pattern)
        c == '~' ? out.append("[^\\s\\d:.,#(=-]*") : out.append(1, c);
    return out;
}

std::string sure_nouns()
{
    std::string all;
    const auto add = [&](const std::string& pattern) {
        all.append(all.empty() ? "" : "|").append(pattern);
    };
    for (const auto& one : languages()) {
        const std::string carrier = std::string("(?:") + one.carrier + ")";
        if (*one.before)
            add(std::string("(?:") + one.before + ")[ -]?" + carrier);
        if (*one.behind)
            add(carrier + "[ -](?:" + one.behind + ")");
        if (*one.sure)
            add(one.sure);
    }
    return all;
}

// What every noun has in it.
std::string parts_of_nouns()
{
    return all_of(&language_words::carrier) + "|" + all_of(&language_words::sure) + "|" +
           all_of(&language_words::maybe);
}

// The words between a noun and its value, of the languages that separate words, or of the others.
std::string copulas(bool have_blanks)
{
    std::string all;
    for (const auto& one : languages())
        if (*one.is && one.has_blanks == have_blanks)
            all.append(all.empty() ? "" : "|").append(one.is);
    return "(?:" + all + ")";
}

constexpr const char* opening_marks = R"([\s:"'„“«「『\[(*]{0,4})";
constexpr const char* closing_marks = R"(["'”“»」』\])*.,]{0,3}\s{0,3})";

// The most that RE2 may use for the automata of these long alternations. Where it is too little for
// the languages that a process meets, they are built again and again.
constexpr std::int64_t usual_memory = 16 << 20;
constexpr std::int64_t memory_of_code_nouns = 32 << 20;

RE2::Options roomy(std::int64_t memory = usual_memory)
{
    auto options = case_blind();
    options.set_max_mem(memory);
    return options;
}

std::string group(const std::string& pattern)
{
    return "(?:" + written_out(pattern) + ")";
}

// `enter 482913`, `482913 を入力`: a value and the verb of typing beside it.
std::string typed_values()
{
    return group(all_of(&language_words::typing)) + opening_marks + "(?-i:[0-9A-Z-]{0,6}[0-9])|" +
           "[0-9]{3}" + closing_marks + group(all_of(&language_words::typed));
}

// At the end of what stands between a noun and its value.
std::string stating_marks()
{
    return R"((?:[:=]| [-—] ?|(?:^|[^\p{L}]))" + copulas(true) + "|" + copulas(false) +
           R"()[\s*"'“„«「(\[#]*$)";
}

// Between a value and the noun that says what it is: ` is your Acme, Inc. `.
std::string explanations()
{
    return R"(^["'”)\]*]* )" + copulas(true) +
           R"((?: (?:your|the|an?|ihr|dein|votre|ton|tu|su|o seu|a sua|il tuo|din|twój|uw|je|vaš|váš|tvoj|ваш|твой))?)" +
           R"((?: (?-i:\p{Lu})[\pL\w&.,'!-]*)* ?$)";
}

} // namespace

RE2::Options case_blind()
{
    RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    return options;
}

vocabulary::vocabulary()
    : part_of_noun(group(parts_of_nouns()), roomy()),
      code_noun(group(sure_nouns()), roomy(memory_of_code_nouns)),
      maybe_code_noun(group(all_of(&language_words::maybe)), roomy()),
      typed_value(typed_values(), roomy()),
      other_code_noun(group(all_of(&language_words::other)), roomy()),
      typing_verb(group(all_of(&language_words::typing)) + opening_marks + "$", roomy()),
      typed_after("^" + (closing_marks + group(all_of(&language_words::typed))), roomy()),
      aim(group(all_of(&language_words::aim)), roomy()),
      aim_after("^" + (closing_marks + group(all_of(&language_words::aim))), roomy()),
      stating_mark(stating_marks(), roomy()),
      explanation(explanations(), roomy()),
      other_number(other_numbers, roomy()),
      phone(phones, roomy()),
      money_before(money_befores, roomy()),
      money_after(money_afters, roomy()),
      unit_after(units_after, roomy()),
      date_before(dates_before, roomy()),
      year_before(years_before, roomy()),
      right_before_year(right_before_years, roomy()),
      imprint(imprints, roomy()),
      person_after(persons_after, roomy()),
      capital_word(capital_words, roomy()),
      access_subject(access_subjects, roomy()),
      meeting(meetings, roomy()),
      receipt(receipts, roomy()),
      offer(offers, roomy())
{}

const vocabulary& vocabulary::get()
{
    static const vocabulary compiled;
    return compiled;
}

} // namespace tempinbox::extract
