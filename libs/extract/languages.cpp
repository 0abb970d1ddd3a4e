#include "extract/languages.hpp"

namespace tempinbox::extract {
namespace {

// No speaker has read these rows. A note says which public text has the words, and "by analogy"
// that the others were formed after them.
// clang-format off
const language_words rows[] = {
    {
        .name = "en",
        .source = "RFC 4226 and RFC 6238 (OTP, one-time password), NIST SP 800-63B (one-time "
                  "passcode, out-of-band secret); TAC is what Malaysian banks say, PAC and mTAN "
                  "are from bank leaflets",
        .before =
            R"(verification|verify|security|confirmation|activation|access|log-?in|sign[- ]?(?:in|up|on)|authenti(?:cation|fication)|authori[sz]ation|auth|one[- ]?time|single[- ]use|disposable|dynamic|passcode|2fa|mfa|two[- ]factor|two[- ]step|recovery|backup|reset|enrol?lment|registration|pairing|device|unlock|check-?in|validation|temporary|secret|identification|magic)",
        .carrier = R"((?:pass)?(?:codes?|pin|key|token|number)\b)",
        .sure =
            R"((?:one[- ]?time|single[- ]use|temporary|temp|session|disposable|dynamic)[- ](?:[a-z-]+ )?(?:pass(?:word|phrase|code)s?|pins?)\b|\bsession (?:code|pin)\b|\bt?otp\b|\bpass-?codes?\b|\btan\b|\b(?:m|sms|push|photo|chip|app|i)-?tan\b|(?-i:\b(?:TAC|PAC|OTAC|OTC)\b)|\b[0-9]{1,2}[- ]digit (?:code|pin|number)|\b(?:your|the|this|following|these) (?:[\w&.'-]*[\w&'-] ){0,3}?(?:codes?|pin)\b|\bcode (?:below|above|is\b))",
        .maybe =
            R"(\bcodes?\b|\bpins?\b|\btokens?\b|two[- ](?:factor|step) (?:authentication|verification)|2fa)",
        .other =
            R"(\b(?:zip|postal|post|promo(?:tion(?:al)?)?|discount|coupon|voucher|gift(?: card)?|referral|country|area|dial(?:l)?ing|product|item|article|goods|style|error|exit|status|response|return|source|reference|region|booking|reservation|ticket|swift|branch|sort|bank|tax|hs|qr|bar|dress|flight|train|airline|seat|table|room|team|state|airport|currency|colou?r|offer|savings?|rebate|store|depot|unit|part|reason|payment|merchant|vendor|customer|client|order|tracking|event|cost|job|course|building|zone|location|door|gate|floor|plate|stock|batch|morse|binary|machine|legacy|your own|the same|clean|open[- ]source)[- ]?codes?\b|\bcodes? (?:review|coverage|of conduct|of ethics|base|snippet|freeze|quality|owner|change|sample|example|style|editor|name|red)s?\b|\bbowling pins?\b)",
        .typing =
            R"(\b(?:enter|type(?: in)?|key in|input|use|submit|with|quote|insert|provide|paste)(?: the following| this)?)",
        .typed = R"(- use (?:this|it)\b)",
        .aim =
            R"(to (?:complete|finish|continue|sign|log|verify|confirm|activate|authenticate|authori[sz]e|proceed|reset|link|approve|unlock|pair|access|register|validate)|(?:in|into|on) (?:the|our|your) (?:[\w-]+ ){0,2}(?:app|browser|field|page|form|window|box|screen|site|website))",
        .is = R"(is|are)",
    },
    {
        .name = "de",
        .source = "BSI, sign-in with two factors (Einmalpasswort, TAN, PIN); Aegis (PIN, Token)",
        .before =
            R"(best[aä]tigungs|sicherheits|verifi(?:zierungs|kations)|anmelde|log-?in|zugangs|zugriffs|freischalt|freigabe|aktivierungs|einmal|einweg|pr[uü]f|registrierungs|authentifizierungs|wiederherstellungs|zwei-faktor-|sitzungs|session-|transaktions|tempor[aä]re[rsmn]?|vorl[aä]ufige[rsmn]?|vor[uü]bergehende[rsmn]?|einmalige[rsmn]?|befristete[rsmn]?)",
        .carrier =
            R"((?:codes?|pin|tan|kennwort|passw[oö]rte?r?|zugangscode|schl[uü]ssel|ziffer|token))",
        .maybe = R"(\b(?:kennwort|losung)\b)",
        .other =
            R"((?:gutschein|rabatt|aktions|promo|bar|strich|post|quell|artikel|kunden|produkt|waren|filial|auftrags|bestell|buchungs|vertrags|rechnungs|sendungs|vorgangs|qr-|bank|farb|fehler|l[aä]nder|vorteils|geschenk)-?codes?\b|postleitzahl)",
        .typing =
            R"(eingeben|gib(?: [^\s\d:.,#(]+){0,2}|geben sie(?: [^\s\d:.,#(]+){0,2}|tippen? sie|tippe|verwenden sie|verwende|nutzen sie|nutze)",
        .typed = R"(ein(?:geben|zugeben)?\b|eintippen\b)",
        .aim =
            R"((?:um )?(?:sich |dich )?(?:anzumelden|einzuloggen)|(?:um )?zu best[aä]tigen|fortzufahren|abzuschlie(?:ß|ss)en|zu aktivieren|freizu\w+|zu verifizieren|zum (?:anmelden|einloggen|best[aä]tigen)|zur (?:anmeldung|best[aä]tigung|verifizierung))",
        .is = R"(ist|sind|lautet|lauten)",
    },
    {
        .name = "nl",
        .source = "Nextcloud TOTP (authenticatiecode), andOTP (pincode); the rest by analogy",
        .before =
            R"(verificatie|beveiligings|inlog|bevestigings|toegangs|activerings|herstel|eenmalige?|tijdelijke?|sessie|controle|authenticatie|autorisatie|aanmeld|identificatie)",
        .carrier = R"((?:toegangs|pin-?)?(?:codes?|wachtwoord(?:en)?|pin|sleutel|token))",
        .sure = R"(\b(?:je|jouw|uw|de) pin-?code\b)",
        .other = R"((?:kortings|post|actie|product|bar|streepjes|klant|waardebon|artikel|bestel|order|factuur|filiaal)-?code)",
        .typing = R"(vul|voer|typ|gebruik|toets)",
        .typed = R"(in om\b|in\b)",
        .aim =
            R"(in te loggen|(?:aan|af) te (?:melden|ronden)|te (?:bevestigen|verifi[eë]ren|voltooien|activeren)|(?:door|verder) te gaan|om (?:in|aan|te))",
        .is = R"(is|luidt)",
    },
    {
        .name = "sv, da, nb",
        .source = "Nextcloud TOTP (autentiseringskod, autorisationskode, autentiseringskode), "
                  "django-two-factor-auth (engangskode), andOTP (PIN-kod); the rest by analogy",
        .before =
            R"(verifi(?:erings|kations|kasjons|serings|cerings)|s[äa]kerhets|sikkerhets?|sikkerheds|eng[åa]ngs|bekr[äæa]ftelses?|bekreftelses|inloggnings|innloggings|logins?|aktiverings|godkendelses|autentiserings|autentificerings?|autorisations|autorisasjons|[åa]terst[äa]llnings|tillf[äa]llig[at]?|midlertidig[et]?|tempor[äæa]r[at]?|sessions|sesjons)",
        .carrier =
            R"((?:(?:kod|kode|l[öo]sen(?:ord)?|passord|adgangskode|kodeord)(?:n|en|er|et|t)?\b|pin\b|pin-?kode?n?\b|token))",
        .maybe =
            R"([a-zåäöæøü]{4,}(?:code|kode|kod|koden)\b|\bkode[nr]?\b|\bpin-?kode?n?\b)",
        .other =
            R"((?:rabatt|produkt|post|k[äa]ll|streck|kampanj|presentkorts|artikel|order|kund|butiks)-?kod\w*|(?:rabat|produkt|tilbuds|gavekort|vare|ordre|kunde)-?kode\w*)",
        .typing =
            R"(skriv(?: in| inn)?|ange|anv[äa]nd|mata in|indtaste?|brug|bruk|bruke|bruge|tast(?: inn?| ind)?|angi|oppgi)",
        .aim =
            R"((?:f[öo]r )?(?:att|at|å) (?:logga|logge|bekr[äæa]fta|bekr[æa]fte|bekrefte|forts[äæa]tt[ae]|fortsette|verifiera|verifisere|slutf[öo]ra|fullf[øo]re|godkende|aktivera))",
        .is = R"(är|lyder|(?:kod|l[öo]senord|passord|adgangskode|pin)[^\n.]* er)",
    },
    {
        .name = "is",
        .source = "Nextcloud TOTP (auðkenningarkóði); the rest by analogy",
        .before =
            R"(sta[dð]festingar|[oö]ryggis|a[dð]gangs|innskr[aá]ningar|au[dð]kenningar|einnota|einskiptis|t[ií]mabundi[dðn]~|br[aá][dð]abirg[dð]a|lotu)",
        .carrier = R"((?:k[oó][dð]|lykilor[dð]|a[dð]gangsor[dð]|pin)~)",
        .maybe = R"(\bk[oó][dð]inn\b)",
        .typing = R"(sl[aá][dð]u inn|nota[dð]u|noti[dð]|sl[aá]i[dð] inn)",
        .aim = R"(til a[dð] (?:skr[aá]|sta[dð]festa|halda|auðkenna))",
        .is = R"((?:k[oó][dð]|or[dð]i?)[^\n.]* er)",
    },
    {
        .name = "fi",
        .source = "Nextcloud TOTP (tunnistautumiskoodi), Aegis (todennuskoodi); the rest by "
                  "analogy",
        .before =
            R"(vahvistus|turva|kerta(?:k[äa]ytt[öo]i(?:nen|sen)|k[äa]ytt[öo]|kirjautumis)?|varmennus|kirjautumis|aktivointi|tunnistautumis|todennus|v[äa]liaikai(?:nen|sen|s)|tilap[äa]i(?:nen|sen|s)|istuntokohtainen|istunto|istunnon)",
        .carrier = R"((?:koodi|salasana|tunnusluku|tunnuslu|pin)~)",
        .maybe = R"(koodi~|tunnusluku~)",
        .other = R"((?:alennus|tuote|l[äa]hde|viiva|posti|tilaus|asiakas)koodi\w*)",
        .typing = R"(sy[oö]t[aä]|sy[oö]tt[aä]m[aä]ll[aä]|anna|antamalla|k[äa]yt[äa]|kirjoita|n[äa]pp[äa]ile)",
        .aim = R"(\p{L}+(?:ksesi|kseen)|kirjautumis~ varten|kirjaudu sis[aä][aä]n)",
        .is = R"((?:koodi|salasana|tunnus|pin)[^\n.]* on)",
    },
    {
        .name = "et",
        .source = "Aegis (PIN-kood); the rest by analogy",
        .before =
            R"(kinnitus|turva|sisselogimis|aktiveerimis|autentimis|[uü]hekord(?:ne|se|selt kasutatav)|ajuti(?:ne|se)|seansi|sessiooni)",
        .carrier = R"((?:kood|parool|salas[oõ]na|pin)~)",
        .maybe = R"(\bkood\b)",
        .typing = R"(sisesta(?:ge)?|kasuta(?:ge)?|tr[uü]ki(?:ge)?)",
        .aim = R"(sisse ?logimiseks|kinnitamiseks|j[aä]tkamiseks|et (?:sisse|kinnitada|j[aä]tkata))",
        .is = R"((?:kood|parool|salas[oõ]na|pin)[^\n.]* on)",
    },
    {
        .name = "lt",
        .source = "Nextcloud TOTP (tapatybės nustatymo kodas), Aegis (PIN kodas); the rest by "
                  "analogy",
        .before =
            R"(patvirtinimo|saugos|prisijungimo|vienkartin~|vienkart~|aktyvinimo|laikin~|sesijos|seanso|autentifik~|nustatymo|atk[uū]rimo)",
        .carrier = R"((?:kod|slapta[zž]od|pin)~)",
        .maybe = R"(\b(?:kodas|kodo)\b)",
        .typing = R"([iį]ve(?:skite|sk|dus)|naudokite|panaudokite)",
        .aim = R"(kad (?:prisijung|patvirtin|t[eę]s)~|prisijungti|prisijungimui|patvirtinti|t[eę]sti)",
        .is = R"(yra)",
    },
    {
        .name = "lv",
        .source = "Nextcloud TOTP (autentificēšanās kods); the rest by analogy",
        .before =
            R"(apstiprin[aā](?:juma|[sš]anas)|verifik[aā]cijas|dro[sš][iī]bas|piek[lļ]uves|autoriz[aā]cijas|aktiviz[aā]cijas|vienreiz~|vienreiz[eē]j[aā]s? lieto[sš]anas|pagaidu|sesijas|autentific~|autentifik~|pieteik[sš]an[aā]s)",
        .carrier = R"((?:kod|parol|pin)~)",
        .maybe = R"(\bkods\b)",
        .typing = R"(ievad(?:iet|i)|izmantojiet)",
        .aim = R"(lai (?:pieteikt|pierakst|apstiprin|turpin|piesl[eē]g|autoriz)~)",
        .is = R"((?:kod|parol|pin)[^\n.]* ir)",
    },
    {
        .name = "fr",
        .source = "Nextcloud TOTP (code d'authentification), django-two-factor-auth (jeton), "
                  "andOTP (NIP, in Canada); ANSSI (mot de passe à usage unique)",
        .carrier = R"(\b(?:codes?(?: (?:secret|personnel|pin|sms|num[eé]rique))?|mots? de passe|jetons?))",
        .behind =
            R"((?:de (?:la |l['’])?|d['’])(?:v[eé]rification|s[eé]curit[eé]|confirmation|connexion|validation|acc[eè]s|activation|authentification|r[eé]cup[eé]ration|secours|session|s[eé]ance)|(?:[aà] )?usage unique|uniques?|temporaires?|provisoires?|[eé]ph[eé]m[eè]res?|dynamiques?|jetables?|confidentiel|otp)",
        .sure = R"(\b(?:votre|ton) (?:nip|jeton)\b)",
        .maybe = R"(\bjeton\b)",
        .other =
            R"(codes? (?:de conduite|civil|p[eé]nal|du travail|de commerce|de la route|postal|promo\w*|produit|article|client|[aà] barres|source|de r[eé]duction|r[eé]duction|guichet|banque|agence|naf|ape|swift|avantage|cadeau|remise|(?:de )?(?:la )?porte|d['’]entr[eé]e|immeuble|erreur|d['’]erreur|couleur|pays))",
        .typing =
            R"(saisissez|saisir|saisis|tapez|entrez|utilisez|indiquez|renseignez|composez)",
        .aim =
            R"((?:pour|afin de) (?:vous (?:connecter|identifier)|te connecter|confirmer|continuer|valider|finaliser|activer|v[eé]rifier|terminer|acc[eé]der))",
        .is = R"(est|sont|sera)",
    },
    {
        .name = "es",
        .source = "Keycloak (código de un solo uso), Nextcloud TOTP (código de autenticación), "
                  "andOTP (PIN); NIP is what Mexican banks say",
        .carrier = R"(\b(?:c[oó]digos?|claves?|contrase[nñ]as?|pin|token|palabra clave))",
        .behind =
            R"((?:(?:temporal|sms|[uú]nico|personal|secret[oa]|num[eé]rico) )?(?:de |para )?(?:verifica|seguridad|confirma|acceso|activaci|autenti|autoriza|inicio de sesi|ingreso|identificaci|(?:un )?(?:solo|[uú]nico) uso|uso [uú]nico|una sola vez|sesi[oó]n|recupera|valida|inscri|registro)\w*|[uú]nic[oa]s?|temporal(?:es)?|provisional(?:es)?|provisori[oa]s?|din[aá]mic[oa]s?|desechables?)",
        .sure = R"(\b(?:tu|su) (?:c[oó]digo|token|nip|pin)\b)",
        .maybe = R"(\bc[oó]digos?\b|\bclave\b)",
        .other =
            R"(c[oó]digos? (?:postal|promocional|de descuento|de cliente|de producto|de art[ií]culo|de sucursal|fuente|de barras|de reserva|de seguimiento|de regalo|de pa[ií]s|de [aá]rea|de error|de conducta|de [eé]tica|civil|penal)|clave (?:de rastreo|interbancaria))",
        .typing =
            R"((?:introduce|introduzca|ingresa|ingrese|escribe|escriba|usa|use|utiliza|utilice|digita|digite|teclea)(?: el)?)",
        .aim =
            R"(para (?:confirmar|iniciar|acceder|continuar|entrar|verificar|completar|validar|activar|ingresar|autorizar|finalizar))",
        .is = R"(es|son)",
    },
    {
        .name = "pt",
        .source = "Nextcloud TOTP (código de autenticação), andOTP (PIN); the rest by analogy",
        .carrier = R"(\b(?:c[oó]digos?|senhas?|palavras?-passe|chave|pin|token))",
        .behind =
            R"((?:(?:tempor[aá]ri[oa]|sms|[uú]nic[oa]) )?(?:de |d[eo] |para )?(?:verifica|seguran|confirma|acesso|ativa[cç]|autentica|autoriza|login|entrada|in[ií]cio de sess|sess[aã]o|uso [uú]nico|(?:uma )?[uú]nica (?:vez|utiliza)|utiliza[cç][aã]o [uú]nica|recupera|valida)~|[uú]nic[oa]s?|tempor[aá]ri[oa]s?|provis[oó]ri[oa]s?|descart[aá]ve(?:l|is)|din[aá]mic[oa]s?)",
        .sure = R"(\b(?:o )?seu (?:c[oó]digo|token|pin)\b)",
        .maybe = "",
        .other =
            R"(c[oó]digos? (?:promocional|de desconto|do cliente|d[eo] produto|da ag[eê]ncia|fonte|de rastreio|de rastreamento|de erro|de conduta|de [eé]tica|civil|penal))",
        .typing = R"(digite|insira|introduza|use|utilize|informe)",
        .aim =
            R"(para (?:entrar|confirmar|continuar|acessar|aceder|iniciar|verificar|concluir|ativar|autorizar|finalizar|fazer login))",
        .is = R"(é|s[aã]o)",
    },
    {
        .name = "ca",
        .source = "Nextcloud TOTP (codi d'autenticació), andOTP (testimoni, PIN); the rest by "
                  "analogy",
        .carrier = R"(\b(?:codis?|contrasenya|contrasenyes|clau|pin|testimoni))",
        .behind =
            R"((?:temporal )?(?:de |d['’])?(?:verificaci|seguretat|confirmaci|acc[eé]s|activaci|(?:un )?sol [uú]s|autenticaci|sessi[oó]|inici de sessi|validaci)~|temporals?|provisionals?|d['’][uú]s [uú]nic|[uú]nica?\b)",
        .maybe = R"(\bcodi\b)",
        .typing = R"(introdu[iï]u|introdueix|escriviu|escriu|utilitzeu|feu servir|fes servir)",
        .aim = R"(per (?:a )?(?:iniciar|confirmar|continuar|entrar|accedir|verificar|completar))",
        .is = R"(és|es)",
    },
    {
        .name = "it",
        .source = "Nextcloud TOTP (codice di autenticazione), django-two-factor-auth (token "
                  "OTP); the rest by analogy",
        .carrier = R"(\b(?:codic[ei]|password|pin|token|parola chiave))",
        .behind =
            R"((?:(?:temporane[oa]|sms|numerico|segreto) )?(?:di |d['’])?(?:verifica|sicurezza|conferma|accesso|attivazione|autenticazione|autorizzazione|sessione|recupero|convalida|login|identificazione|un solo uso|uso singolo|utilizzo unico)|otp|temporane[oa]|provvisori[oa]|monouso|usa e getta|dinamic[oa])",
        .maybe = R"(\bcodice\b)",
        .other =
            R"(codice (?:fiscale|prodotto|cliente|sconto|promo\w*|postale|articolo|filiale|a barre|sorgente|univoco|ordine|di avviamento|iban|errore|di prenotazione|di condotta|etico|civile|penale))",
        .typing =
            R"(inserisci|inserire|inserisca|digita|digiti|digitare|usa|usi|utilizza|utilizzi|immetti)",
        .aim =
            R"(per (?:confermare|accedere|continuare|completare|verificare|autorizzare|attivare|effettuare|proseguire))",
        .is = R"(è|e['’]|sono)",
    },
    {
        .name = "ro",
        .source = "Nextcloud TOTP (cod autentificare); the rest by analogy",
        .carrier =
            R"(\b(?:cod(?:ul|uri|urile)?|parol[aăe]~|pin(?:-ul)?|token)(?: t[aă]u| ta| dvs\.?| dumneavoastr[aă])?)",
        .behind =
            R"((?:(?:temporar[aă]?|unic) )?(?:de |pentru )?(?:verificare|confirmare|securitate|acces|autentificare|activare|autorizare|conectare|validare|siguran[tțţ][aă]|sesiune|logare|(?:o )?unic[aă] (?:folosin[tțţ][aă]|utilizare)|unic[aă] folosire)|temporar[aă]?|provizori[eu]|unic[aă]?\b)",
        .maybe = R"(\bcod(?:ul)?\b)",
        .other = R"(cod(?:ul)? (?:po[sș]tal|promo\w*|fiscal|produs\w*|client\w*|bancar\w*))",
        .typing =
            R"(introdu(?:ce[tțţ]i)?|folosi[tțţ]i|folose[sșş]te|tasta[tțţ]i|utiliza[tțţ]i)",
        .aim =
            R"(pentru (?:a )?(?:te |v[aă] )?(?:autentific|conect|confirm|continu|verific|finaliz|activ)~)",
        .is = R"(este|(?:cod|parol)[^\n.]* e)",
    },
    {
        .name = "sq",
        .source = "Nextcloud TOTP (kod mirëfilltësimi); the rest by analogy",
        .carrier = R"(\b(?:kodi[nt]?|fjal[eë]kalimi[nt]?|pin-?i)(?: juaj)?)",
        .behind =
            R"([ie] (?:juaj )?(?:verifikimit|konfirmimit|siguris[eë]|hyrjes|aktivizimit|sesionit|p[eë]rkohsh[eë]m|nj[eë]hersh[eë]m|mir[eë]filltimit)|nj[eë]p[eë]rdorimsh[eë]?m?|nj[eë]hersh[eë]m)",
        .maybe = R"(\bkodi\b)",
        .typing = R"(vendosni|vendos|shkruani|futni|p[eë]rdorni|jepni)",
        .aim = R"(p[eë]r (?:t['’]u |t[eë] )?(?:identifik|hyr|konfirm|vazhd|ky[cç]|verifik)~)",
        .is = R"(është|eshte)",
    },
    {
        .name = "pl",
        .source = "Nextcloud TOTP (kod uwierzytelnienia), andOTP (kod PIN), "
                  "django-two-factor-auth (token jednorazowy); the rest by analogy",
        .before = R"(jednorazow~|tymczasow~|sesyjn~|dynamiczn~)",
        .carrier = R"(\b(?:kod(?:u|em|y)?|has[lł](?:o|a|em)|pin|token)(?: pin| sms)?)",
        .behind =
            R"((?:weryfik|potwierdz|bezpiecze|logowania|aktywac|autoryzac|uwierzytelni|jednorazow|tymczasow|sesyjn|sesji|dynamiczn|zabezpiecz|rejestrac)~|dost[eę]pu|sms\w*|do (?:autoryzac|logowan|potwierdz|weryfik|zalogowan|aktywac|rejestrac)~)",
        .maybe = R"(\bk[oó]d(?:u|em|en|ja|y|unuz|un)?\b)",
        .other = R"(kod\w* (?:pocztow|rabatow|promocyjn|produkt|kreskow|[zź]r[oó]d[lł]ow|kraj|towar)\w*)",
        .typing = R"(wpisz|podaj|wprowad[zź]|u[zż]yj|przepisz)",
        .aim =
            R"((?:aby|[zż]eby|by) (?:si[eę] )?(?:zalogowa|potwierdzi|kontynuowa|zweryfikowa|doko[nń]czy|autoryzowa|aktywowa)~)",
        .is = R"(jest|brzmi|(?:kod|has[lł]|token)[^\n.]* to)",
    },
    {
        .name = "cs, sk",
        .source = "Nextcloud TOTP (ověřovací kód, overovací kód), django-two-factor-auth "
                  "(jednorázový token); the rest by analogy",
        .before =
            R"(ov[eě][rř]ovac~|potvrzovac~|potvrdzovac~|bezpe[cč]nostn~|p[rř]ihla[sš]ovac~|jednor[aá]zov~|aktiva[cč]n~|overovac~|autentiza[cč]n~|autentifika[cč]n~|autoriza[cč]n~|do[cč]asn~|rela[cč]n~|p[rř][ií]stupov~)",
        .carrier = R"((?:k[oó]d|hesl|pin|token)~)",
        .behind = R"((?:relace|rel[aá]cie|pro (?:p[rř]ihl|ov[eě][rř]|potvr)~|na (?:prihl|over|potvr)~))",
        .other =
            R"((?:slevov[yý]|po[sš]tovn[ií]|[cč][aá]rov[yý]|zdrojov[yý]|z[lľ]avov[yý]) k[oó]d)",
        .typing =
            R"(zadejte|zadej|zadajte|zadaj|pou[zž]ijte|pou[zž]ite|vlo[zž]te|opi[sš]te|nap[ií][sš]te)",
        .aim =
            R"((?:pro|pre|na|k|ke) (?:p[rř]ihl[aá][sš]|potvr[zd]|pokra[cč]|ov[eě][rř]|over|dokon[cč]|autoriz)~|aby\w* s[ae]|p[rř]ihl[aá]s~|pokra[cč]ova~)",
        .is = R"(zn[ií]e?|(?:k[oó]d|hesl|pin|token)[^\n.]* je)",
    },
    {
        .name = "hr, bs, sr-Latn",
        .source = "Nextcloud TOTP (šifra za autentifikaciju), public templates of messages (kôd "
                  "za verifikaciju); the rest by analogy",
        .before =
            R"(kontroln~|verifikacijsk~|verifikacion~|potvrdn~|sigurnosn~|bezb(?:j)?ednosn~|jednokratn~|privremen~|aktivacijsk~|aktivacion~|pristupn~|autentifikacijsk~|autorizacijsk~|sesijsk~)",
        .carrier = R"((?:k[oô]d|lozin[ck]|[sš]ifr|zapor[ck]|pin)~)",
        .behind =
            R"((?:za )?(?:verifikacij|potvrd|prijav|pristup|autentifikacij|autorizacij|jednokratnu|aktivacij|sesij)~)",
        .maybe = "",
        .other = R"((?:po[sš]tansk|promotivn)~ k[oô]d|kod proizvoda)",
        .typing = R"(unesite|unesi|upi[sš]ite|upi[sš]i|koristite|iskoristite|ukucajte)",
        .aim =
            R"(za (?:prijavu|potvrdu|nastavak|pristup)|(?:kako|da) biste (?:se )?(?:prijavi|potvrdi|nastavi|verificira)~)",
        .is = R"(glasi|(?:k[oô]d|lozin|[sš]ifr|zapor|pin)[^\n.]* je)",
    },
    {
        .name = "sr",
        .source = "Nextcloud TOTP (код за проверу идентитета), andOTP (ПИН, жетон); the rest by "
                  "analogy",
        .before =
            R"(верификацион~|контролни|потврдн~|сигурносн~|безбедносн~|једнократн~|привремен~|приступн~)",
        .carrier = R"((?:код|лозинк|шифр|пин|жетон)~)",
        .behind = R"((?:за )?(?:верификациј|потврд|провер|пријав|приступ|једнократн|сесиј)~|сесије)",
        .typing = R"(унесите|унеси|користите|искористите|укуцајте)",
        .aim =
            R"(за (?:пријаву|потврду|наставак)|(?:како|да) бисте (?:се )?(?:пријави|потврди|настави)~)",
        .is = R"(је|гласи)",
    },
    {
        .name = "sl",
        .source = "Nextcloud TOTP (overitvena koda), andOTP (PIN, žeton); the rest by analogy",
        .before =
            R"(potrditven~|varnostn~|preveritven~|enkratn~|aktivacijsk~|prijavn~|za[cč]asn~|overitven~|sejn~)",
        .carrier = R"((?:kod|gesl|pin)~)",
        .behind = R"((?:za (?:enkratno|potrditev|prijavo|preverjanje|overitev)~|seje))",
        .maybe = R"(\bkoda\b)",
        .typing = R"(vnesite|vnesi|vpi[sš]ite|uporabite)",
        .aim = R"(za (?:prijavo|potrditev|nadaljevanje)|da (?:se )?(?:prijavi|potrdi)~)",
        .is = R"(se glasi)",
    },
    {
        .name = "hu",
        .source = "Nextcloud TOTP (hitelesítőkód), andOTP (PIN-kód); the rest by analogy",
        .before =
            R"(meger[oő]s[ií]t[oő]|ellen[oő]rz[oő]|biztons[aá]gi|bel[eé]p[eé]si|bejelentkez[eé]si|aktiv[aá]l[oó]|aktiv[aá]ci[oó]s|egyszeri|egyszer haszn[aá]latos|hiteles[ií]t[oő]|ideiglenes|[aá]tmeneti|munkamenet-?|azonos[ií]t[oó]|visszaigazol[oó]|regisztr[aá]ci[oó]s|j[oó]v[aá]hagy[oó])",
        .carrier = R"((?:k[oó]d|jelsz[oóa]|pin)~)",
        .other = R"((?:kupon|von|term[eé]k|akci[oó]s|forr[aá]s)k[oó]d\w*)",
        .typing =
            R"([ií]rd be|[ií]rja be|adja meg|add meg|haszn[aá]lja|haszn[aá]ld|[uü]sse be)",
        .aim =
            R"(a (?:bejelentkez|bel[eé]p|meger[oő]s[ií]t|folytat|azonos[ií]t)~hoz|a (?:bejelentkez|bel[eé]p|meger[oő]s[ií]t|folytat|azonos[ií]t)~hez)",
        .is = R"(a k[oö]vetkez[oő])",
    },
    {
        .name = "ru",
        .source = "Nextcloud TOTP (код аутентификации), andOTP (PIN-код, токен); public bank "
                  "messages (сеансовый пароль, and Latin letters: parol, kod)",
        .before =
            R"(одноразов~|временн~|сеансов~|сессионн~|проверочн~|динамическ~|разов~)",
        .carrier = R"((?:[сs][мm][сs]-)?(?:код|парол|пин|токен)~)",
        .behind =
            R"((?:для |на |из )?(?:подтвержд|проверк|доступ|безопасност|авториз|аутентифик|активац|вход|регистрац|восстановл|операци|перевод|платеж|оплат|сеанс|сесси|смс|sms|один сеанс|один вход|один раз)~)",
        .sure =
            R"(\b(?:odnorazov\w*|vremenn\w*|seansov\w*) (?:kod|parol)\w*|\b(?:kod|parol)\w* (?:(?:dlya|dlia|dlja) \w+|podtver\w+|dostupa|vhoda|proverki))",
        .maybe = R"(код|токен|(?-i:ПИН|ПІН))",
        .other =
            R"(код~ (?:товар|города|страны|региона|купона|ошибки|валюты|подразделения|банка|отделения)~|промокод~|почтов~ (?:код|индекс)|исходн~ код~|штрих-?код|qr-код|купон~ код|кодекс~)",
        .typing = R"(введите|введи|наберите|укажите|используйте|вводите)",
        .aim =
            R"((?:для|на) (?:вход|подтвержд|продолж|авториз|регистр|заверш|активац)~|чтобы (?:войти|подтвердить|продолжить|завершить|активировать))",
        .is = R"(это)",
    },
    {
        .name = "uk",
        .source = "Nextcloud TOTP (код авторизації, одноразовий код), andOTP (PIN-код); the rest "
                  "by analogy",
        .before = R"(одноразов~|тимчасов~|сеансов~|сесійн~|перевірочн~|разов~)",
        .carrier = R"((?:смс-|sms-)?(?:код|парол|пін|токен)~)",
        .behind =
            R"((?:для |на )?(?:підтвердж|перевірк|безпек|доступ|вход|вхід|авториз|активац|автентифік|реєстрац|відновл|сеанс|сесі)~)",
        .other =
            R"(код~ (?:товару|міста|країни|помилки|банку|відділення)~|поштов~ (?:код|індекс)|вихідн~ код~|штрих-?код)",
        .typing = R"(введіть|введи|вкажіть|використайте|використовуйте|наберіть)",
        .aim =
            R"((?:для|на) (?:вход|підтвердж|продовж|авториз|реєстрац|активац)~|щоб (?:увійти|підтвердити|продовжити|завершити|активувати))",
        .is = R"(це)",
    },
    {
        .name = "bg",
        .source = "Nextcloud TOTP (удостоверителен код), andOTP (ПИН код); the rest by analogy",
        .before = R"(еднократн~|временн~|временна|сесийн~|удостоверител~|потвърдител~)",
        .carrier = R"((?:код|парол|пин)~)",
        .behind =
            R"((?:(?:ви|си|Ви) )?(?:за )?(?:еднократн|потвърж|сигурност|вход|достъп|верифик|удостовер|активир|активац|сеси)~)",
        .other = R"(код~ на продукт|пощенски код)",
        .typing = R"(въведете|въведи|използвайте|напишете)",
        .aim = R"(за (?:да )?(?:вход|вле[зз]|потвърд|продълж|вписван|се впи)~)",
        .is = R"(е)",
    },
    {
        .name = "el",
        .source = "Nextcloud TOTP (κώδικας πιστοποίησης), andOTP (PIN); the rest by analogy",
        .before = R"(προσωριν~|εφ[άα]παξ)",
        .carrier =
            R"((?:κωδικ[όοούύ]~|κωδικ[όο]ς πρ[όο]σβασης|κ[ώω]δικας|συνθηματικ[όο]~|pin)(?: (?:σας|σου))?)",
        .behind =
            R"((?:επαλ[ήη]θευσης|επιβεβα[ίι]ωσης|ασφαλε[ίι]ας|πρ[όο]σβασης|μ[ίι]ας (?:χρ[ήη]σης|φορ[άα]ς)|σ[ύυ]νδεσης|ενεργοπο[ίι]ησης|πιστοπο[ίι]ησης|ταυτοπο[ίι]ησης|εξουσιοδ[όο]τησης|συνεδρ[ίι]ας|εισ[όο]δου))",
        .maybe = R"(κωδικ)",
        .other = R"(ταχυδρομικ~ κωδικ~|κ[ώω]δικας (?:δεοντολογ[ίι]ας|συμπεριφορ[άα]ς)|κωδικ~ (?:προϊ[όο]ντος|πελ[άα]τη|προσφορ[άα]ς))",
        .typing =
            R"(εισ[άα]γετε|εισαγ[άα]γετε|πληκτρολογ[ήη]στε|χρησιμοποι[ήη]στε|καταχωρ[ίι]στε)",
        .aim =
            R"(για (?:να |την )?(?:συνδεθ|σ[ύυ]νδεση|επιβεβα[ίι]ω|συνεχ[ίι]σ|ε[ίι]σοδο|ολοκληρ[ώω]σ|επαληθε[ύυ]σ)~)",
        .is = R"(είναι|ειναι)",
    },
    {
        .name = "tr",
        .source = "Nextcloud TOTP (tek kullanımlık parola), django-two-factor-auth; the rest by "
                  "analogy",
        .before =
            R"(do[gğ]rulama|onay|g[uü]venlik|giri[sş]|aktivasyon|tek kullan[iı]ml[iı]k|tek seferlik|teyit|ge[cç]ici|oturum|eri[sş]im|sms|tek kullan[iı]ml[iı]k giri[sş])",
        .carrier = R"((?:kod|[sş]ifre|parola|pin)~)",
        .other =
            R"((?:posta|indirim|[uü]r[uü]n|promosyon|kupon|alan|[uü]lke|kaynak|kampanya|hediye|[sş]ube|banka) (?:kod|[cç]ek)~)",
        .typing = R"(girin|kullan[iı]n|girilecek)",
        .typed =
            R"(['’]?\p{L}{0,5} ?(?:(?:kod|[sş]ifre|parola)\p{L}* )?(?:girin|giriniz|yaz[iı]n|yaz[iı]n[iı]z|kullan[iı]n|kullan[iı]n[iı]z)\b)",
        .aim =
            R"((?:giri[sş] yap|oturum a[cç]|onayla|do[gğ]rula|devam et|tamamla)~ i[cç]in)",
        .is = "",
    },
    {
        .name = "ar",
        .source = "Nextcloud TOTP (رمز المصادقة), django-two-factor-auth (رمز التفويض), andOTP "
                  "(رمز PIN); the rest by analogy",
        .carrier =
            R"((?:رمز|الرمز|رمزك|(?:ال)?رقم (?:ال)?سري|الكود|كود|كلمة (?:ال)?(?:مرور|سر)~)(?: الخاصة? بك)?)",
        .behind =
            R"((?:ل?ل?(?:ال)?)(?:تحقق|تأكيد|تفعيل|دخول|أمان|مصادقة|تفويض|توثيق|سري|مؤقت|جلسة|متغير|مرة|استخدام مرة|استعمال مرة|مستخدم|تسجيل الدخول|أحادي|احادي|صالح)~|المرور (?:لمرة|المؤقت)~)",
        .maybe = R"(رمز|كود)",
        .other = R"(الرمز البريدي|رمز (?:الخصم|المنتج|البلد|القسيمة|المنطقة|الفرع)|كود (?:الخصم|المنتج))",
        .typing = R"(أدخل|ادخل|أدخلي|استخدم|اكتب|إدخال)",
        .aim =
            R"(لتسجيل الدخول|للدخول|للتحقق|للتأكيد|لتأكيد|للمتابعة|لإتمام|لإكمال|لتفعيل)",
        .is = R"(هو|هي)",
    },
    {
        .name = "fa",
        .source = "Nextcloud TOTP (کد احراز هویت), andOTP (رمز یکبار مصرف, پین); the rest by "
                  "analogy",
        .carrier = R"((?:کد|رمز|رمز عبور|گذرواژه|کلمه عبور|پسورد|پین))",
        .behind =
            R"((?:عبور )?(?:تأیید|تایید|ورود|فعال|امنیتی|یکبار|یک بار|پویا|موقت|جلسه|نشست|احراز|عضویت|ثبت)\S*)",
        .maybe = R"(کد |پین)",
        .other = R"(کد (?:پستی|تخفیف|ملی|پیگیری|کالا|شعبه|رهگیری))",
        .typing = R"(وارد کنید|وارد نمایید)",
        .typed = R"(را (?:وارد|استفاده))",
        .aim = R"(برای (?:ورود|تأیید|تایید|ادامه|فعال))",
        .is = "",
    },
    {
        .name = "he",
        .source = "Nextcloud TOTP (קוד אימות), andOTP (קוד PIN), django-two-factor-auth (טוקן); "
                  "the rest by analogy",
        .carrier =
            R"((?:קוד|קודך|סיסמה|סיסמא|סיסמת|סיסמתך|סיסמתכם|טוקן|פין)(?: של(?:ך|כם|כן))?)",
        .behind =
            R"(ה?(?:אימות|אישור|אבטחה|ביטחון|גישה|כניסה|התחברות|זיהוי|הפעלה|שחזור|זמני|זמנית|חד[- ־]?פעמית?|מפגש|שיחה)(?: של(?:ך|כם|כן))?)",
        .maybe = R"(קוד|טוקן)",
        .other = R"(קוד (?:קופון|ה?הנחה|ה?מוצר|ה?סניף|ה?בנק))",
        .typing = R"(הזן|הזיני|הזינו|הקלד|הקלידי|הקלידו|הקש|הקישו|להזין|הכנס|הכניסו)",
        .aim = R"((?:כדי )?(?:להתחבר|להיכנס|לאשר|להמשיך|לאמת|להשלים|להתחברות|לכניסה|לאישור))",
        .is = R"(הוא|היא|הינו|הינה)",
    },
    {
        .name = "hi, mr",
        .source = "andOTP (पिन, ओटीपी, टोकन), public templates of messages (पुष्टि संख्या); "
                  "the rest by analogy",
        .before =
            R"(सत्यापन|पुष्टिकरण|पुष्टीकरण|पुष्टि|सुरक्षा|लॉगिन|लॉग ?इन|प्रमाणीकरण|पडताळणी|वन[- ]?टाइम|एक बार(?: का| वाला| उपयोग का)?|एकबारगी|एकवेळ|एकदाच वापरायचा|अस्थायी|अस्थाई|तात्पुरता|तात्पुरते|सत्र|सत्र का|सेशन)",
        .carrier = R"((?:कोड|पिन|पासवर्ड|संकेतशब्द|संख्या|टोकन))",
        .sure = R"(ओटीपी|वन[- ]टाइम)",
        .maybe = R"(कोड|पिन)",
        .other = R"(पिन कोड|(?:कूपन|प्रोमो|डिस्काउंट|शाखा|बैंक) कोड)",
        .typing = R"(दर्ज करें)",
        .typed = R"((?:को )?(?:दर्ज|टाइप|प्रविष्ट|प्रविष्ट|एंटर) कर|डालें|टाका|लिहा|प्रविष्ट करा)",
        .aim =
            R"((?:लॉग ?इन|लॉगिन|साइन ?इन|पुष्टि|सत्यापित|सत्यापन|जारी)[^\n]{0,20} ?(?:के लिए|साठी|ण्यासाठी)|करण्यासाठी)",
        .is = "",
    },
    {
        .name = "gu",
        .source = "by analogy; no public text has been compared",
        .before =
            R"(ચકાસણી|વેરિફિકેશન|વન[- ]ટાઇમ|અસ્થાયી|કામચલાઉ|હંગામી|સત્ર|સુરક્ષા|લૉગિન|લોગિન|પુષ્ટિકરણ)",
        .carrier = R"((?:કોડ|પાસવર્ડ|પિન))",
        .sure = R"(ઓટીપી)",
        .maybe = R"(કોડ|પિન)",
        .typed = R"(દાખલ કરો|લખો|નાખો)",
        .aim = R"((?:લૉગિન|લોગિન|લૉગ ઇન|સાઇન ઇન|ચકાસ|પુષ્ટિ)[^\n]{0,16}માટે)",
        .is = "",
    },
    {
        .name = "bn",
        .source = "public templates of messages (যাচাইকরণ কোড); the rest by analogy",
        .before =
            R"(যাচাইকরণ|যাচাই|ভেরিফিকেশন|নিশ্চিতকরণ|নিরাপত্তা|লগইন|লগ ?ইন|ওয়ান[- ]টাইম|ওয়ান[- ]টাইম|এককালীন|অস্থায়ী|অস্থায়ী|সাময়িক|সাময়িক|সেশন)",
        .carrier = R"((?:কোড|পিন|পাসওয়ার্ড|পাসওয়ার্ড)~)",
        .sure = R"(ওটিপি)",
        .maybe = R"(কোড|পিন)",
        .typed = R"(লিখুন|দিন|প্রবেশ করান|ইনপুট করুন|ব্যবহার করুন)",
        .aim = R"((?:লগ ?ইন|সাইন ?ইন|যাচাই|নিশ্চিত|সম্পন্ন)[^\n]{0,16}করতে)",
        .is = R"(হল|হলো)",
    },
    {
        .name = "ta",
        .source = "by analogy; no public text has been compared",
        .before =
            R"((?:சரிபார்ப்பு|பாதுகாப்பு|உறுதிப்படுத்தல்|ஒருமுறை|ஒரு முறை|தற்காலிக|அமர்வு|உள்நுழைவு)(?:க்|ச்|ப்)?)",
        .carrier = R"((?:குறியீடு|குறியீட்டு|கடவுச்சொல்|கடவுச்சொ|பின்)~)",
        .sure = R"(ஓடிபி)",
        .maybe = R"(குறியீடு)",
        .typed = R"((?:ஐ |என்பதை )?(?:உள்ளிடவும்|உள்ளிடுக|பயன்படுத்தவும்))",
        .aim = R"(உள்நுழைய|உறுதிப்படுத்த|சரிபார்க்க|தொடர)",
        .is = "",
    },
    {
        .name = "te",
        .source = "by analogy; no public text has been compared",
        .before =
            R"(ధృవీకరణ|నిర్ధారణ|భద్రతా|లాగిన్|వన్[- ]టైమ్|ఒకసారి|ఒక్కసారి|తాత్కాలిక|సెషన్)",
        .carrier = R"((?:కోడ్|పాస్వర్డ్|పిన్|సంకేతపదం))",
        .sure = R"(ఓటీపీ|ఓటిపి)",
        .maybe = R"(కోడ్|పిన్)",
        .typed = R"((?:ను )?(?:నమోదు చేయండి|ఎంటర్ చేయండి|ఉపయోగించండి))",
        .aim = R"((?:లాగిన్|సైన్ ఇన్|ధృవీకరించ|నిర్ధారించ|కొనసాగ)~)",
        .is = "",
    },
    {
        .name = "ur",
        .source = "by analogy; no public text has been compared",
        .before =
            R"(تصدیقی|توثیقی|سیکیورٹی|تصدیق کا|لاگ ان|عارضی|ایک بار کا|ون ٹائم|یک وقتی|سیشن)",
        .carrier = R"((?:کوڈ|پاس ?ورڈ|پن))",
        .sure = R"(او ٹی پی)",
        .maybe = R"(کوڈ)",
        .typed = R"(درج کریں|ڈالیں|لکھیں)",
        .aim = R"((?:لاگ ان|سائن ان|تصدیق|جاری)[^\n]{0,20}لی[ےۓ])",
        .is = "",
    },
    {
        .name = "th",
        .source = "public templates of messages (รหัสยืนยัน); the rest by analogy",
        .before = R"(รหัส)",
        .carrier =
            R"((?:ยืนยัน|ผ่าน ?(?:แบบ|สำหรับ)?(?:ใช้)?(?:ครั้งเดียว|ชั่วคราว|เซสชัน)|(?:แบบ)?(?:ใช้)?(?:ครั้งเดียว|ชั่วคราว|เซสชัน)|ความปลอดภัย|เข้าสู่ระบบ|otp|พิน|pin))",
        .sure = R"(โอทีพี)",
        .maybe = R"(รหัส)",
        .other = R"(รหัส(?:ไปรษณีย์|สินค้า|ลูกค้า|ส่วนลด|สาขา))",
        .typing = R"(กรอก|ป้อน|ใส่|พิมพ์|ใช้)",
        .aim = R"(เพื่อ ?(?:เข้าสู่ระบบ|ยืนยัน|ดำเนินการ|ล็อกอิน|ลงชื่อ))",
        .is = R"(คือ)",
        .has_blanks = false,
    },
    {
        .name = "vi",
        .source = "Nextcloud TOTP (mã xác thực), public templates of messages (mã xác minh); the "
                  "rest by analogy",
        .carrier = R"((?:\bm[aã]|m[aậ]t kh[aẩ]u)(?: (?:pin|s[oố]))?)",
        .behind =
            R"((?:(?:d[uù]ng|s[uử] d[uụ]ng) )?(?:x[aá]c (?:minh|nh[aậ]n|th[uự]c)|otp|pin|b[aả]o m[aậ]t|[dđ][aă]ng nh[aậ]p|k[ií]ch ho[aạ]t|m[oộ]t l[aầ]n|t[aạ]m th[oờ]i|phi[eê]n|truy c[aậ]p))",
        .maybe = R"(\bm[aã] )",
        .other =
            R"(m[aã] (?:gi[aả]m gi[aá]|[dđ][oơ]n h[aà]ng|s[aả]n ph[aẩ]m|b[uư]u [dđ]i[eệ]n|v[aậ]n [dđ][oơ]n|kh[aá]ch h[aà]ng|khuy[eế]n m[aã]i|chi nh[aá]nh))",
        .typing = R"(nh[aậ]p|d[uù]ng|s[uử] d[uụ]ng)",
        .aim =
            R"([dđ][eể] (?:[dđ][aă]ng nh[aậ]p|x[aá]c (?:minh|nh[aậ]n|th[uự]c)|ti[eế]p t[uụ]c|ho[aà]n t[aấ]t|k[ií]ch ho[aạ]t))",
        .is = R"(là)",
    },
    {
        .name = "id, ms",
        .source = "Nextcloud TOTP (kode autentikasi), public templates of messages (kod "
                  "pengesahan); the rest by analogy",
        .carrier = R"(\b(?:kode|kod|kata sandi|sandi|kata laluan|password|pin|token))",
        .behind =
            R"((?:verifikasi|otp|keamanan|konfirmasi|masuk|aktivasi|rahasia|akses|autentikasi|otorisasi|sekali (?:pakai|guna)|sementara|sesi|pengesahan|keselamatan|log masuk|pengaktifan)\b)",
        .maybe = R"(\bkod anda\b)",
        .other = R"(kode (?:pos|promo|voucher|diskon|produk|cabang|barang)|poskod)",
        .typing = R"(masukkan|gunakan|ketik|taip)",
        .aim =
            R"(untuk (?:masuk|login|log|verifikasi|memverifikasi|melanjutkan|konfirmasi|mengonfirmasi|mengesahkan|meneruskan|menyelesaikan))",
        .is = R"(adalah|ialah)",
    },
    {
        .name = "ja",
        .source = "Nextcloud TOTP (認証コード), django-two-factor-auth (トークン); the rest by "
                  "analogy",
        .before =
            R"(認証|確認|検証|承認|セキュリティ|ログイン|サインイン|ワンタイム|アクセス|照合|登録|本人確認|一時(?:的な)?|臨時|一回限りの|使い捨て|仮|セッション)",
        .carrier = R"((?:用)?(?:コード|番号|キー|パスコード|パスワード|pin|トークン))",
        .sure = R"(暗証番号|ワンタイムパス[^\s\]】」』:]{0,4}|パスコード|次のコード|以下のコード)",
        .maybe = R"(コード|トークン)",
        .other =
            R"((?:商品|クーポン|割引|ソース|エラー|バー|qr|プロモ|郵便|国|銀行|支店|店舗|紹介|招待|キャンペーン|優待)[^\s\])>】」』〕》）:、。]{0,4}コード)",
        .typed = R"((?:を|と)(?:ご)?(?:入力|記入|お使い|使用|利用))",
        .aim =
            R"((?:ログイン|サインイン|確認|認証|続行|登録|完了|承認)(?:を|する|を完了する)?(?:には|ため|に[はわ]?|場合)|(?:して|し、|すると)(?:ログイン|サインイン|確認|認証|続行|登録|完了|承認))",
        .is = R"(は|が)",
        .has_blanks = false,
    },
    {
        .name = "zh",
        .source = "Nextcloud TOTP (验证码, 驗證碼), andOTP (令牌, 權杖, PIN 碼); the rest by "
                  "analogy",
        .before =
            R"(验证|驗證|校验|校驗|检验|动态|動態|确认|確認|安全|认证|認證|激活|啟用|登录|登入|授权|授權|一次性|单次|單次|临时|臨時|会话|會話|短信|簡訊|动态验证|一次性验证)",
        .carrier = R"( ?(?:码|碼|代码|代碼|口令|令牌|權杖|pin ?(?:码|碼)?))",
        .sure =
            R"((?:动态|動態|一次性|单次|單次|临时|臨時|会话|會話|短信|簡訊|隨機|随机) ?(?:登录|登入)?(?:密码|密碼))",
        .maybe = R"(代码|代碼|口令)",
        .other =
            R"(优惠码|優惠碼|折扣码|折扣碼|二维码|条形码|條碼|源代码|(?:商品|优惠|優惠|错误|產品|产品|邮政|银行|分行|支行)(?:编码|代码|代碼)|邀请码|随机码|隨機碼)",
        .typing = R"(輸入|输入|填写|填寫|使用|鍵入|键入)",
        .aim =
            R"((?:以|来|來|进行|進行|完成|即可|用于|用於|用来)(?:登录|登入|验证|驗證|确认|確認|继续|繼續|完成|激活|注册|註冊|授权|授權)|(?:登录|登入|验证|驗證))",
        .is = R"(是|为|為)",
        .has_blanks = false,
    },
    {
        .name = "ko",
        .source = "Nextcloud TOTP (인증 코드), andOTP (PIN); the rest by analogy",
        .before =
            R"(인증|확인|보안|로그인|일회용|일회성|1회용|임시|세션|본인 ?확인|검증|접속|액세스)",
        .carrier = R"((?:번호|코드|키|비밀번호|패스워드|암호|핀|pin|토큰))",
        .sure = R"(승인 ?코드)",
        .maybe = R"(코드)",
        .other = R"((?:우편|상품|할인|쿠폰|오류|프로모션|qr|바|소스|지점|은행) ?코드)",
        .typing = R"(입력)",
        .typed = R"( ?(?:을|를|을\(를\))? ?(?:입력|사용))",
        .aim = R"((?:로그인|확인|인증|계속|완료|승인)(?:을|를)? ?(?:하려면|하시려면|위해|하기)|(?:하여|하고|해서?) ?(?:로그인|인증|확인|완료|계속|승인))",
        .is = R"(는|은|란)",
        .has_blanks = false,
    },
};
// clang-format on

} // namespace

std::span<const language_words> languages()
{
    return rows;
}

} // namespace tempinbox::extract
