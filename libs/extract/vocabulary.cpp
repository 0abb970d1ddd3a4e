#include "extract/vocabulary.hpp"

#include <string>

namespace tempinbox::extract {
namespace {

// One language a line if it has words of its own. `[^\s\d:.,#(]*` matches the rest of a word: \p{L}
// would take a thousand states each time.
constexpr const char* code_nouns =
    R"((?:verification|verify|security|confirmation|activation|access|log-?in|sign[- ]?(?:in|up|on)|authenti(?:cation|fication)|authori[sz]ation|auth|one[- ]?time|single[- ]use|passcode|2fa|mfa|two[- ]factor|two[- ]step|recovery|backup|reset|enrol?lment|registration|pairing|device|unlock|check-?in|validation|temporary|secret|identification|magic)(?: (?:pass)?(?:codes?|pin|key|token|number)\b)|)"
    R"(one[- ]?time (?:pass(?:word|phrase)?s?|pins?)\b|\b(?:t?otp)\b|\bpass-?codes?\b|\btan\b|\b[0-9]{1,2}[- ]digit (?:code|pin|number)|)"
    R"(\b(?:your|the|this|following|these) (?:[\w&.'-]*[\w&'-] ){0,3}?(?:codes?|pin)\b|\bcode (?:below|above|is\b)|)"
    // German, Dutch, the Nordic languages
    R"((?:best[aä]tigungs|sicherheits|verifi(?:zierungs|kations)|anmelde|log-?in|zugangs|zugriffs|freischalt|freigabe|aktivierungs|einmal|pr[uü]f|registrierungs|authentifizierungs|wiederherstellungs|zwei-faktor-)-?(?:codes?|pin|kennwort|passw[oö]rte?r?|schl[uü]ssel|ziffer)|)"
    R"((?:verificatie|beveiligings|inlog|bevestigings|toegangs|activerings|herstel|eenmalige )-?(?:codes?|wachtwoord)|eenmalig wachtwoord|)"
    R"((?:verifi(?:erings|kations|kasjons|serings)|s[äa]kerhets|sikkerhets?|sikkerheds|eng[åa]ngs|bekr[äa]ftelses?|bekr[æe]ftelses?|bekreftelses|inloggnings|innloggings|logins?|aktiverings|godkendelses)-?(?:kod|kode|l[öo]senord|passord|adgangskode)(?:n|en|er)?\b|)"
    R"((?:sta[dð]festingar|[oö]ryggis|a[dð]gangs|innskr[aá]ningar)-?k[oó][dð][^\s\d:.,#(]*|)"
    R"((?:vahvistus|turva|kerta(?:k[äa]ytt[öo]|kirjautumis)?|varmennus|kirjautumis|aktivointi)(?:koodi|salasana)\w*|)"
    // The Baltic languages
    R"((?:patvirtinimo|saugos|prisijungimo|vienkartin[^\s\d:.,#(]*|aktyvinimo) (?:kod|slapta[zž]od)[^\s\d:.,#(]*|)"
    R"((?:apstiprin[aā](?:juma|[sš]anas)|verifik[aā]cijas|dro[sš][iī]bas|piek[lļ]uves|autoriz[aā]cijas|aktiviz[aā]cijas|vienreiz[^\s\d:.,#(]*) (?:kod|parol)[^\s\d:.,#(]*|)"
    R"((?:kinnitus|turva|sisselogimis|aktiveerimis|autentimis|[uü]hekordne )-?(?:kood|parool)[^\s\d:.,#(]*|)"
    // Romance languages
    R"(codes? (?:de |d['’])(?:v[eé]rification|s[eé]curit[eé]|confirmation|connexion|validation|acc[eè]s|activation|authentification|r[eé]cup[eé]ration|secours)|codes? (?:[aà] usage unique|unique|temporaire)|mot de passe (?:[aà] usage )?unique|)"
    R"(c[oó]digos? (?:de |d[eo] )?(?:verifica|seguridad|seguran|confirma|acceso|acesso|activaci|ativa|autentica|inicio de sesi|un solo uso|uso [uú]nico|recuperaci|recupera|valida|inscri|[uú]nico)\w*|(?:clave|contrase[nñ]a|senha|palavra-passe) (?:de (?:un solo )?uso(?: [uú]nico)?|[uú]nica|din[aá]mica|tempor[aá]ria|descart[aá]vel)|(?:o seu|seu|tu|su) (?:c[oó]digo|token)|(?:token|chave) de (?:acesso|seguran[cç]a)|)"
    R"(codice (?:di )?(?:verifica|sicurezza|conferma|accesso|attivazione|autenticazione|otp|temporaneo|monouso)|password (?:monouso|usa e getta|temporanea)|cod(?:ul)?(?: t[aă]u| dvs\.?)? de (?:verificare|confirmare|securitate|acces|autentificare|activare)|)"
    R"(codis? (?:de |d['’])(?:verificaci|seguretat|confirmaci|acc[eé]s|activaci|un sol [uú]s|autenticaci)[^\s\d:.,#(]*|contrasenya d['’]un sol [uú]s|)"
    R"(kodi(?:n| juaj)? (?:juaj )?i (?:verifikimit|konfirmimit|siguris[eë]|hyrjes|aktivizimit)|)"
    // Slavic languages, Hungarian, Greek, Turkish, Slovenian
    R"(kod(?:u|em)? (?:weryfikacyjn|potwierdzaj|bezpiecze|dost[eę]pu|logowania|aktywacyjn|autoryzacyjn|jednorazow|sms)\w*|has[lł]o jednorazowe|)"
    R"((?:ov[eě][rř]ovac[ií]|potvrzovac[ií]|bezpe[cč]nostn[ií]|p[rř]ihla[sš]ovac[ií]|jednor[aá]zov[yýé]|aktiva[cč]n[ií]|overovac[ií]|potvrdzovac[ií]) (?:k[oó]d|heslo)|(?:kontrolni|verifikacijski|potvrdni|sigurnosni|jednokratni) k[oô]d|)"
    R"((?:meger[oő]s[ií]t[oő]|ellen[oő]rz[oő]|biztons[aá]gi|bel[eé]p[eé]si|aktiv[aá]l[oó]|egyszeri|hiteles[ií]t[oő]) ?(?:k[oó]d|jelsz[oó])\w*|)"
    R"(код\w* (?:подтвержд|проверк|доступа|безопасности|авториз|активац|входа|для входа|підтвердж|перевірки|безпеки|доступу|входу|за потвържд|за сигурност|за вход|за достъп|потврд)[^\s\d:.,#(]*|одноразов[^\s\d:.,#(]* (?:код|парол)[^\s\d:.,#(]*|еднократн[^\s\d:.,#(]* (?:код|парола)|проверочн[^\s\d:.,#(]* код|)"
    R"(κωδικ[όο]ς? (?:επαλ[ήη]θευσης|επιβεβα[ίι]ωσης|ασφαλε[ίι]ας|πρ[όο]σβασης|μ[ίι]ας χρ[ήη]σης|σ[ύυ]νδεσης|ενεργοπο[ίι]ησης)|)"
    R"((?:do[gğ]rulama|onay|g[uü]venlik|giri[sş]|aktivasyon|tek kullan[iı]ml[iı]k|teyit) (?:kod|[sş]ifre|parola)[^\s\d:.,#(]*|)"
    R"((?:potrditven|varnostn|preveritven|enkratn|aktivacijsk|prijavn)[aoei] (?:kod|gesl)[^\s\d:.,#(]*|)"
    // Arabic, Persian, Hebrew, Hindi, Thai, Vietnamese, Indonesian, Urdu, Bengali, Tamil, Telugu,
    // Marathi, Gujarati
    R"(رمز (?:التحقق|التأكيد|التفعيل|الدخول|الأمان|المرور لمرة|تسجيل الدخول|تحقق|تأكيد)|(?:كود|كلمة) (?:التحقق|التفعيل|التأكيد|المرور لمرة)|کد (?:تأیید|تایید|ورود|فعال|امنیتی|یکبار)\S*|رمز (?:یکبار|پویا)\S*|)"
    R"(קוד (?:ה?אימות|ה?אישור|ה?אבטחה|ה?גישה|ה?כניסה|חד[- ]פעמי)|קוד האימות|סיסמה חד[- ]פעמית|)"
    R"(ओटीपी|वन[- ]टाइम|(?:सत्यापन|पुष्टिकरण|सुरक्षा|लॉगिन) (?:कोड|पिन)|(?:รหัส(?:ยืนยัน|ผ่านครั้งเดียว|ความปลอดภัย|เข้าสู่ระบบ|otp))|)"
    R"(m[aã] (?:x[aá]c (?:minh|nh[aậ]n|th[uự]c)|otp|b[aả]o m[aậ]t|[dđ][aă]ng nh[aậ]p|k[ií]ch ho[aạ]t)|kode (?:verifikasi|otp|keamanan|konfirmasi|masuk|aktivasi|rahasia)|kod (?:pengesahan|keselamatan)|)"
    R"((?:تصدیقی|توثیقی|سیکیورٹی|تصدیق کا|لاگ ان) کوڈ|او ٹی پی|(?:যাচাইকরণ|যাচাই|ভেরিফিকেশন|নিশ্চিতকরণ|নিরাপত্তা|লগইন) (?:কোড|পিন)|ওটিপি|(?:சரிபார்ப்பு|பாதுகாப்பு|உறுதிப்படுத்தல்)க்? ?(?:குறியீடு|குறியீட்டு)|ஓடிபி|)"
    R"((?:ధృవీకరణ|భద్రతా|లాగిన్) కోడ్|ఓటీపీ|(?:पडताळणी|प्रमाणीकरण) कोड|(?:ચકાસણી|વેરિફિકેશન) કોડ|ઓટીપી|)"
    // Japanese, Chinese, Korean
    R"((?:認証|確認|検証|承認|セキュリティ|ログイン(?:用)?|サインイン|ワンタイム|アクセス|照合|登録|本人確認)(?:用)?(?:コード|番号|キー|パスコード|パスワード)|暗証番号|ワンタイムパス\S{0,4}|パスコード|次のコード|以下のコード|)"
    R"(验证码|驗證碼|校验码|校驗碼|检验码|动态码|動態碼|动态密码|動態密碼|确认码|確認碼|安全码|安全碼|认证码|認證碼|激活码|啟用碼|登录码|登入碼|授权码|一次性密码|一次性密碼|验证代码|驗證代碼|短信口令|动态口令|)"
    R"(인증 ?(?:번호|코드|키)|확인 ?코드|보안 ?코드|로그인 ?코드|일회용 ?(?:비밀번호|코드)|임시 ?비밀번호|승인 ?코드)";

constexpr const char* maybe_code_nouns =
    R"(\bcodes?\b|\bpins?\b|\btokens?\b|\bc[oó]digos?\b|\bcodice\b|\bcod(?:ul)?\b|\bclave\b|\bk[oó]d(?:u|em|en|ja|y|unuz|un)?\b|\bkode[nr]?\b|[a-zåäöæøü]{4,}(?:code|kode|kod|koden)\b|koodi[^\s\d:.,#(]*|)"
    R"(\b(?:kennwort|losung|codi|koda|kodas|kodo|kods|kood|kodi|k[oó][dð]inn)\b|کوڈ|কোড|குறியீடு|కోడ్|код|κωδικ|קוד|رمز|کد |كود|कोड|รหัส|\bm[aã] |コード|代码|代碼|口令|코드|two[- ](?:factor|step) (?:authentication|verification)|2fa)";

constexpr const char* other_code_nouns =
    R"(\b(?:zip|postal|post|promo(?:tion(?:al)?)?|discount|coupon|voucher|gift(?: card)?|referral|country|area|dial(?:l)?ing|product|item|article|style|error|exit|status|response|return|source|reference|region|booking|reservation|ticket|swift|branch|sort|bank|tax|hs|qr|bar|dress|state|airport|currency|colou?r|offer|savings?|rebate|store|depot|unit|part|reason|payment|merchant|vendor|customer|client|order|tracking|event|cost|job|course|building|zone|location|door|gate|floor|plate|stock|batch|morse|binary|machine|legacy|your own|the same|clean|open[- ]source)[- ]?codes?\b|)"
    R"(\bcodes? (?:review|coverage|of conduct|base|snippet|freeze|quality|owner|change|sample|example|style|editor|name|red)s?\b|)"
    R"((?:gutschein|rabatt|aktions|promo|bar|strich|post|quell|artikel|kunden|produkt|qr-|bank|farb|fehler|l[aä]nder|vorteils|geschenk)-?codes?\b|postleitzahl|)"
    R"(codes? (?:postal|promo\w*|produit|article|client|[aà] barres|source|de r[eé]duction|r[eé]duction|guichet|naf|ape|swift|avantage|cadeau|remise|(?:de )?(?:la )?porte|d['’]entr[eé]e|immeuble|erreur|d['’]erreur|couleur|pays)|)"
    R"(c[oó]digos? (?:postal|promocional|de descuento|de desconto|de cliente|do cliente|de producto|d[eo] produto|fuente|fonte|de barras|de reserva|de seguimiento|de rastreio|de rastreamento|de regalo|de pa[ií]s|de [aá]rea|de error|de erro)|clave (?:de rastreo|interbancaria)|)"
    R"(codice (?:fiscale|prodotto|cliente|sconto|promo\w*|postale|articolo|a barre|sorgente|univoco|ordine|di avviamento|iban|errore|di prenotazione)|cod(?:ul)? (?:po[sș]tal|promo\w*|fiscal|produs\w*|client\w*)|)"
    R"((?:kortings|post|actie|product|bar|streepjes|klant|waardebon)-?code|kod\w* (?:pocztow|rabatow|promocyjn|produkt|kreskow|[zź]r[oó]d[lł]ow|kraj)\w*|(?:slevov[yý]|po[sš]tovn[ií]|[cč][aá]rov[yý]|zdrojov[yý]) k[oó]d|(?:kupon|von|term[eé]k|akci[oó]s|forr[aá]s)k[oó]d\w*|)"
    R"((?:rabatt|produkt|post|k[äa]ll|streck|kampanj|presentkorts)-?kod\w*|(?:rabat|produkt|tilbuds|gavekort)-?kode\w*|(?:alennus|tuote|l[äa]hde|viiva)koodi\w*|(?:posta|indirim|[uü]r[uü]n|promosyon|kupon|alan|[uü]lke|kaynak|kampanya|hediye) (?:kod|[cç]ek)[^\s\d:.,#(]*|)"
    R"(код[^\s\d:.,#(]* (?:товар|города|страны|региона|купона|ошибки|валюты|міста|країни|помилки|на продукт)[^\s\d:.,#(]*|промокод[^\s\d:.,#(]*|почтов[^\s\d:.,#(]* (?:код|индекс)|поштов[^\s\d:.,#(]* (?:код|індекс)|пощенски код|(?:исходн|вихідн)[^\s\d:.,#(]* код[^\s\d:.,#(]*|штрих-?код|qr-код|купон[^\s\d:.,#(]* код|)"
    R"(ταχυδρομικ[^\s\d:.,#(]* κωδικ[^\s\d:.,#(]*|κωδικ[^\s\d:.,#(]* (?:προϊ[όο]ντος|πελ[άα]τη|προσφορ[άα]ς)|الرمز البريدي|رمز (?:الخصم|المنتج|البلد|القسيمة|المنطقة)|كود (?:الخصم|المنتج)|کد (?:پستی|تخفیف|ملی|پیگیری|کالا)|קוד (?:קופון|הנחה|מוצר|ה?הנחה)|पिन कोड|(?:कूपन|प्रोमो|डिस्काउंट) कोड|รหัส(?:ไปรษณีย์|สินค้า|ลูกค้า|ส่วนลด)|m[aã] (?:gi[aả]m gi[aá]|[dđ][oơ]n h[aà]ng|s[aả]n ph[aẩ]m|b[uư]u [dđ]i[eệ]n|v[aậ]n [dđ][oơ]n|kh[aá]ch h[aà]ng|khuy[eế]n m[aã]i)|kode (?:pos|promo|voucher|diskon|produk)|poskod|)"
    R"((?:商品|クーポン|割引|ソース|エラー|バー|qr|プロモ|郵便|国|銀行|支店|店舗|紹介|招待|キャンペーン|優待)\S{0,4}コード|优惠码|優惠碼|折扣码|折扣碼|二维码|条形码|條碼|源代码|(?:商品|优惠|優惠|错误|產品|产品|邮政|银行)(?:编码|代码|代碼)|邀请码|随机码|隨機碼|(?:우편|상품|할인|쿠폰|오류|프로모션|qr|바|소스|지점) ?코드)";

constexpr const char* typing_verbs =
    R"((?:enter|type|input|use|submit|with|quote|eingeben|gib(?: [^\s\d:.,#(]+){0,2}|geben sie(?: [^\s\d:.,#(]+){0,2}|tippe|saisissez|saisir|tapez|entrez|introduce|introduzca|introduce el|ingresa|ingrese|escribe|inserisci|inserire|digita|digite|insira|introduza|vul|voer|typ|wpisz|podaj|zadejte|skriv(?: in| inn)?|ange|indtast|sy[oö]t[aä]|[iî]rd be|introdu|введите|наберите|введіть|въведете|girin|kullan[iı]n|nh[aậ]p|masukkan|輸入|输入|填写|أدخل|הזן|הקלד|दर्ज करें)[\s:"'„“«「\[(*]*$)";

constexpr const char* typed_to_words =
    R"re(^["'”“»」\])*.]{0,3}\s{1,3}(?:(?:in(?:to)? (?:the|our|your) (?:app|browser|field|page|form|window|box|screen)|(?:in order )?to (?:complete|finish|continue|sign|log|verify|confirm|activate|authenticate|proceed|reset|link|approve|unlock|pair))|ein(?:geben)?\b|ein,|eingeben|pour (?:confirmer|vous connecter|continuer)|para (?:confirmar|iniciar|acceder|continuar|entrar)|per (?:confermare|accedere|continuare)|in om|aby|для|чтобы|щоб))re";

constexpr const char* other_numbers =
    R"((?:(?:^|[^\p{L}])(?:order|invoice|tracking|parcel|shipment|receipt|ticket|case|ref(?:erence)?|customer|client|member(?:ship)?|account|booking|reservation|card|policy|contract|request|transaction|report|batch|claim|job|pipeline|commit|issue|pull request|pr|serial|model|version|build|release|zip|postal|p\.?o\.? box|suite|ste|apt|apartment|unit|room|hall|floor|building|bldg|gate|seats?|row|block|flight|train|iban|bic|swift|vat|tax|ending(?: in)?|ends (?:in|with)|extension|ext|terminal|cashier|store|lot|article|item|sku|part|isbn|barcode|page|chapter|section|line|port|error|port|id|uid|pid|reg(?:istration)?|company|licen[cs]e|patent|highway|route|channel|frequency|)"
    R"(bestell[^\s\d:.,#(]*|auftrags?[^\s\d:.,#(]*|rechnungs?[^\s\d:.,#(]*|sendungs?[^\s\d:.,#(]*|kunden[^\s\d:.,#(]*|vertrags[^\s\d:.,#(]*|vorgangs[^\s\d:.,#(]*|aktenzeichen|artikel[^\s\d:.,#(]*|konto[^\s\d:.,#(]*|z[aä]hler[^\s\d:.,#(]*|mitglieds?[^\s\d:.,#(]*|hrb|hra|plz|raum|zimmer|filiale|postfach|kvk|bestelnummer|ordernummer|klantnummer|factuurnummer|postcode|)"
    R"(facture|commande|dossier|client|r[eé]f[eé]rence|contrat|colis|suivi|siret|siren|rcs|bp|cedex|train|voiture|place|pedido|factura|fatura|nota fiscal|seguimiento|rastreio|cliente|contrato|contratto|referencia|refer[eê]ncia|folio|protocolo|boleto|ordine|fattura|spedizione|cap|cep|cnpj|cpf|nif|cif|cp|p\.?iva|via|calle|rua|rue|)"
    R"(zam[oó]wieni[^\s\d:.,#(]*|faktur[^\s\d:.,#(]*|paczk[^\s\d:.,#(]*|przesy[lł]k[^\s\d:.,#(]*|klient[^\s\d:.,#(]*|rachun(?:ek|k)[^\s\d:.,#(]*|nip|regon|krs|objedn[aá]vk[^\s\d:.,#(]*|faktura|i[cč]o|di[cč]|ps[cč]|rendel[eé]s[^\s\d:.,#(]*|sz[aá]mla[^\s\d:.,#(]*|ad[oó]sz[aá]m|comand[aă]|factur[aă]|order(?:nummer|nr)|fakturanummer|kundnummer|postnummer|org\.?nr|kontonummer|tilaus[^\s\d:.,#(]*|lasku[^\s\d:.,#(]*|y-tunnus|)"
    R"(sipari[sş][^\s\d:.,#(]*(?: numaras[iı])?|fatura[^\s\d:.,#(]*|takip(?: numaras[iı])?|m[uü][sş]teri[^\s\d:.,#(]*(?: numaras[iı])?|заказ[^\s\d:.,#(]*|накладн[^\s\d:.,#(]*|сч[её]т[^\s\d:.,#(]*|рахун[^\s\d:.,#(]*|замовленн[^\s\d:.,#(]*|поръчка|фактура|трек[^\s\d:.,#(]*|трек-номер|инн|кпп|огрн|бик|індекс|индекс|ттн|едрпоу|договор[^\s\d:.,#(]*|клиент[^\s\d:.,#(]*|клієнт[^\s\d:.,#(]*|)"
    R"(παραγγελ[^\s\d:.,#(]*|τιμολ[όο]γι[^\s\d:.,#(]*|λογαριασμ[^\s\d:.,#(]*|τ\.κ\.)|רחוב|הזמנה|חשבונית|לקוח|מיקוד|مספر|رقم|الطلب|طلب|فاتورة|التتبع|هاتف|سفارش|شماره|बिल संख्या|संख्या|ऑर्डर|คำสั่งซื้อ|[dđ][oơ]n h[aà]ng|pesanan|resi|)"
    R"(注文番号|注文|伝票番号|伝票|お客様番号|会員番号|口座番号|品番|番号|〒|郵便番号|订单号?|訂單(?:編號)?|单号|單號|快递|编号|編號|邮编|郵遞區號|发票号?|發票號碼|号码|號碼|账号|帳號|卡号|客户号|尾号|주문번호|운송장번호|송장번호|계좌번호|우편번호|회원번호|고객번호|청구서)"
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

std::string either(const char* words)
{
    return std::string("(?:") + words + ")";
}

RE2::Options roomy()
{
    auto options = case_blind();
    // The most RE2 may use for the automata of these long alternations.
    options.set_max_mem(16 << 20);
    return options;
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
    : code_noun(either(code_nouns), roomy()),
      maybe_code_noun(either(maybe_code_nouns), roomy()),
      any_code_noun(either(code_nouns) + "|" + either(maybe_code_nouns), roomy()),
      other_code_noun(either(other_code_nouns), roomy()),
      typing_verb(typing_verbs, roomy()),
      typed_to(typed_to_words, roomy()),
      other_number(other_numbers, roomy()),
      phone(phones, roomy()),
      money_before(money_befores, roomy()),
      money_after(money_afters, roomy()),
      unit_after(units_after, roomy()),
      date_before(dates_before, roomy()),
      year_before(years_before, roomy()),
      right_before_year(right_before_years, roomy()),
      imprint(either(imprints), roomy()),
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
