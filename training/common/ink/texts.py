"""What people write by hand: words, names, numbers, lines of code, in many scripts."""

ENGLISH = """the and of to in is it you that he was for on are with as his they be at one have
this from or had by hot but some what there we can out other were all your when up
use word how said an each she which do their time if will way about many then them
would write like so these her long make thing see him two has look more day could go
come did number sound no most people my over know water than call first who may down
side been now find any new work part take get place made live where after back
little only round man year came show every good me give our under name very through
just form sentence great think say help low line differ turn cause much mean before
move right boy old too same tell does set three want air well also play small end
put home read hand port large spell add even land here must big high such follow act
why ask men change went light kind off need house picture try us again animal point
mother world near build self earth father answer because energy force mass velocity
triangle angle equal sum product since photosynthesis cell nucleus carbon oxygen
acid base solution history empire king treaty revolution citizen market price supply
demand theme author character metaphor school teacher lesson homework pencil Monday
Tuesday January October received checked approved paid pending yes no N/A none
please call urgent done ok note copy return signed total balance quickly jumps lazy
fox""".split()

OTHER_LATIN = """être où déjà été garçon leçon français élève réponse donc parce deux même voilà
hôtel août cœur maison über für Straße schön möglich Größe während nicht zwei Lösung
Schule Aufgabe Mädchen wäre natürlich Übung Haus niño mañana también año español
corazón lección número qué cómo está señor perro gracias según día não coração
lições amanhã português também você questão saúde perché città più così è giorno
ragazza scuola że się jest źródło książka dziękuję łódź może więc żółw příklad třída
dům škola číslo řeka být žák město için öğrenci değil güneş çok şehir ağaç yıl soru
cevap không người được việc trường học đúng nước tôi bạn một först många även år och
får så måned blå søster være hyvä päivä äiti työ egy két három könyv iskola kérdés
strada școală și în această viața ponieważ tekenen schrijven antwoord vraag goed
huis""".split()

FIRST_NAMES = """Anna Ben Clara David Emma Felix Grace Hannah Ivan Julia Kevin Laura Maria Noah
Olivia Paul Quinn Rosa Sam Tom Uma Victor Wei Xenia Yusuf Zoe José François Jürgen
Łukasz Chloé Björn Anaïs Mateo Priya Li Ming Kenji Aisha""".split()
LAST_NAMES = """Smith Müller Garcia Nguyen Kowalski Rossi Silva Martin Dubois Novák Jensen Brown
Taylor Lee Wang Kim Tanaka Patel Khan Lopez O'Brien van Dijk Schmidt Johnson Wilson
Andersson Popescu Costa Fischer Weber Moreau""".split()
MONTHS = "Jan Feb Mar Apr May June July Aug Sept Oct Nov Dec janvier März mai août".split()

CYRILLIC = """привет как дела что это школа задача решение ответ время книга домашняя работа класс
имя город который человек потому число сумма площадь треугольник вода жизнь Россия
Москва история сегодня завтра спасибо ученик учитель можно нужно быть есть они мы вы
если когда дом день год рука слово щука ёлка объект эхо юла яблоко чаша фонарь цена
Київ мова їжак є ґанок Иванов Петров Анна Мария подпись дата нет да""".split()
GREEK = """και το να είναι με για που δεν μια αυτό σχολείο μάθημα απάντηση άσκηση λόγος ψυχή
θάλασσα ζωή χρόνος ήλιος γράμμα ξένος φως νερό βιβλίο κόσμος δύο τρία Αθήνα Γιώργος
Μαρία άρα επειδή γωνία τρίγωνο""".split()
ARABIC = """السلام عليكم مدرسة كتاب قلم درس جواب سؤال نعم لا محمد أحمد فاطمة التاريخ الاسم
الرياضيات العلوم بيت يوم سنة ماء شمس قمر لغة عربية طالب معلم صحيح خطأ مجموع عدد واحد
اثنان ثلاثة هذا هذه كان في من إلى على مع عن""".split()
DEVANAGARI = """नमस्ते भारत हिन्दी विद्यालय पुस्तक उत्तर प्रश्न नाम दिनांक गणित विज्ञान है हैं और का
की के में से को यह वह जल सूर्य घर दिन वर्ष छात्र शिक्षक सही गलत एक दो तीन योग संख्या
राम सीता प्रकृति शक्ति मैं हम तुम नहीं""".split()
HEBREW = (
    "שלום ספר בית תלמיד שאלה תשובה כן לא יום שנה מים שמש עברית מורה כיתה שם תאריך מספר נכון ילד"
).split()
THAI = ("สวัสดี โรงเรียน หนังสือ คำตอบ ชื่อ วันที่ ใช่ ไม่ บ้าน น้ำ ครู นักเรียน ภาษาไทย ถูก ผิด หนึ่ง สอง สาม").split()
MALAYALAM = "മലയാളം കേരളം സ്കൂൾ പുസ്തകം ഉത്തരം ചോദ്യം പേര് തീയതി വീട് വെള്ളം അധ്യാപകൻ ശരി തെറ്റ് ഒന്ന് രണ്ട്".split()
KANNADA = "ಕನ್ನಡ ಶಾಲೆ ಪುಸ್ತಕ ಉತ್ತರ ಪ್ರಶ್ನೆ ಹೆಸರು ದಿನಾಂಕ ಮನೆ ನೀರು ಸರಿ ತಪ್ಪು ಒಂದು ಎರಡು".split()

# Scripts whose letters change with their neighbours: a word is drawn as one shape.
SHAPED = {
    "arabic": ARABIC,
    "devanagari": DEVANAGARI,
    "hebrew": HEBREW,
    "thai": THAI,
    "malayalam": MALAYALAM,
    "kannada": KANNADA,
}

HANZI = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
    "过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心"
    "她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间"
    "由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给"
    "世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变"
    "四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社"
    "便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北"
    "边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔写读语答案作业班级姓名日期数"
    "学英语历史地理春夏秋冬红黄蓝绿爸爸妈妈爱我们学校老师花草树木鸟鱼虫牛羊狗猫鸡鸭百千左右早晚"
    "晴雨风云雪衣服米饭茶面包车船飞机火星球画歌舞跑跳"
)
HIRAGANA = (
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわを"
    "んがぎぐげござじずぜぞだでどばびぶべぼぱぴぷぺぽっゃゅょ"
)
KATAKANA = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
    "ガギグゲゴジズゼダデドバビブベボパピプペポッャュョー"
)
HANGUL = (
    "가각간감강개거건게겨결경계고곡공과관교구국군권그금기길김나난날남내너년노는능니다단달당대더"
    "도동되된두드들등디때또라러런렇레로론료루르른를리린마만말많면명모무문물미민바반발방배버번법"
    "변보본부분비사산살상새생서선성세소속수순숫시식신실심아안않알았약양어언없에여역연영예오와왔"
    "요용우운원월위유은을음의이인일입있자작장재저적전정제조족종주중지직진질집차참채처천체초최추"
    "출치친크키타태터통트특파편평표품하학한할함해했행현형호화확환활회후히힘"
)

CODE = [
    "for(int i=0;i<n;i++){",
    "while(p!=NULL){",
    "int main(){",
    "return 0;",
    "}",
    'printf("%d\\n",a[i]);',
    "if(x>max) max=x;",
    "def f(x):",
    "return x*x+1",
    "print(sum(a))",
    "SELECT * FROM t",
    "WHERE id=3;",
    "s+=a[i][j];",
    "else if(a==b)",
    "p=p->next;",
    "cin>>n;",
    "cout<<ans<<endl;",
    "x=x%10;",
    "public class A{",
    "import math",
    "for x in range(10):",
    "let y = 2;",
    "const k=[1,2];",
    "O(n log n)",
    "#include<stdio.h>",
    "#define N 100",
    "a[i]=a[j]; // swap",
    "ls -l | grep x",
]

OPERATORS = "+-=×÷·<>≤≥≠≈±→∞√∫Σπθαβγλμφω∠△°⊥∈∪∩∴∵′|()[]{}/,.:;!?%"
ASCII = "".join(map(chr, range(33, 127)))


def characters():
    """All single characters that a hand may be asked for."""
    words = "".join(ENGLISH + OTHER_LATIN + FIRST_NAMES + LAST_NAMES + MONTHS + CYRILLIC + GREEK)
    return sorted(
        set(
            words
            + words.upper()
            + ASCII
            + OPERATORS
            + HANZI
            + HIRAGANA
            + KATAKANA
            + HANGUL
            + "¿¡€£§«»“”’–—。、，"
        )
    )


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def digits(rng, low=1, high=5):
    return "".join(str(d) for d in rng.integers(0, 10, int(rng.integers(low, high + 1))))


def number(rng):
    form = rng.random()
    if form < 0.5:
        return digits(rng, 1, 4)
    if form < 0.7:
        return digits(rng, 1, 3) + pick(rng, ".,") + digits(rng, 1, 3)
    return (
        pick(rng, ["-", "+", "=", "≈", "±", ""])
        + digits(rng, 1, 3)
        + pick(rng, ["", "%", "°", " cm", " kg", " m/s", " km", "€", " $"])
    )


def pseudo_word(rng):
    return "".join(
        pick(rng, "bcdfghjklmnpqrstvwxz")
        + pick(rng, "aeiouy")
        + pick(rng, ["", "", "n", "r", "s", "l", "t"])
        for _ in range(int(rng.integers(1, 4)))
    )


def word(rng):
    form = rng.random()
    made = (
        pick(rng, ENGLISH)
        if form < 0.6
        else pick(rng, OTHER_LATIN)
        if form < 0.85
        else pseudo_word(rng)
    )
    return made.capitalize() if rng.random() < 0.2 else made


def words(rng, low=2, high=5):
    return " ".join(word(rng) for _ in range(int(rng.integers(low, high + 1))))


def sentence(rng):
    return words(rng, 4, 11).capitalize() + pick(rng, ["."] * 6 + ["?", "!", ",", ";"])


def name(rng):
    return f"{pick(rng, FIRST_NAMES)} {pick(rng, LAST_NAMES)}"


def date(rng):
    d, m, y = int(rng.integers(1, 32)), int(rng.integers(1, 13)), int(rng.integers(1950, 2027))
    return pick(
        rng,
        [
            f"{d}.{m}.{y}",
            f"{m}/{d}/{y % 100:02d}",
            f"{d:02d}/{m:02d}/{y}",
            f"{y}-{m:02d}-{d:02d}",
            f"{d}. {m}. {y % 100:02d}",
            f"{pick(rng, MONTHS)} {d}, {y}",
            f"{d} {pick(rng, MONTHS)} {y}",
            f"{y}年{m}月{d}日",
        ],
    )


def phone(rng):
    return pick(
        rng,
        [
            f"+{digits(rng, 1, 2)} {digits(rng, 3, 3)} {digits(rng, 6, 7)}",
            f"{digits(rng, 3, 3)}-{digits(rng, 3, 3)}-{digits(rng, 4, 4)}",
            f"0{digits(rng, 9, 10)}",
            f"({digits(rng, 3, 3)}) {digits(rng, 3, 3)}-{digits(rng, 4, 4)}",
        ],
    )


def money(rng):
    return (
        pick(rng, "$€£¥") + digits(rng, 1, 4) + pick(rng, ["", ".00", ".50", ",-", ".99"])
        if rng.random() < 0.7
        else digits(rng, 1, 3) + ",00 €"
    )


def equation(rng):
    x = pick(rng, "xyzabntkm")
    a, b, c = (int(v) for v in rng.integers(1, 100, 3))
    op, op2 = pick(rng, "+-×÷·"), pick(rng, "+-")
    return pick(
        rng,
        [
            f"{a}{op}{b}={c}",
            f"{a}{x}{op2}{b}={c}",
            f"{x}={a}",
            f"{x}={a}{op2}{b}{x}",
            f"({a}{op2}{x})·{b}={c}",
            f"{a}:{b}={c}",
            f"{x}≈{a}.{b}",
            f"{x}<{a}",
            f"∴ {x}={a}",
            f"∠ABC={a}°",
            "△ABC≈△DEF",
            f"f({x})={a}{x}{op2}{b}",
            f"{a}%·{b}={c}",
            f"sin {a}°={x}",
            "AB⊥CD",
            f"{a}+{b}+{c}={a + b + c}",
            f"P(A∪B)=0.{a}",
            f"{x}→∞",
            "H2O+CO2",
            f"v={a} m/s",
            "Fe+O2→Fe2O3",
        ],
    )


def initials(rng):
    return ".".join(pick(rng, "ABCDEFGHJKLMNPRSTVW") for _ in range(int(rng.integers(2, 4)))) + "."


def run_of(rng, alphabet, low, high):
    return "".join(pick(rng, alphabet) for _ in range(int(rng.integers(low, high + 1))))


def several(rng, items, low=1, high=4):
    return " ".join(pick(rng, items) for _ in range(int(rng.integers(low, high + 1))))


PLAIN = {
    "letter": lambda rng: (
        pick(rng, "ABCDEABCDEFGHabcdeTFxy")
        if rng.random() < 0.7
        else pick(rng, ASCII[32:58] + ASCII[65:])
    ),
    "digit": lambda rng: pick(rng, "0123456789"),
    "number": number,
    "word": word,
    "words": words,
    "sentence": sentence,
    "paragraph": lambda rng: " ".join(sentence(rng) for _ in range(int(rng.integers(2, 7)))),
    "name": name,
    "date": date,
    "phone": phone,
    "money": money,
    "equation": equation,
    "initials": initials,
    "code": lambda rng: "\n".join(pick(rng, CODE) for _ in range(int(rng.integers(1, 5)))),
    "block": lambda rng: (words(rng, 1, 3) if rng.random() < 0.6 else name(rng)).upper(),
    "cjk": lambda rng: run_of(rng, HANZI, 1, 12) + pick(rng, ["", "", "。", "，"]),
    "kana": lambda rng: run_of(rng, HIRAGANA if rng.random() < 0.6 else KATAKANA, 2, 10),
    "hangul": lambda rng: " ".join(
        run_of(rng, HANGUL, 1, 4) for _ in range(int(rng.integers(1, 4)))
    ),
    "cyrillic": lambda rng: several(rng, CYRILLIC),
    "greek": lambda rng: several(rng, GREEK),
    **{script: (lambda rng, items=items: several(rng, items)) for script, items in SHAPED.items()},
}
