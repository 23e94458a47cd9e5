"""Words and sentences of many languages, for print.

Sentences come from programs' translations ($UNINK_DATA/texts, gettext catalogues)
and from the short lists here, which also give the labels of forms and worksheets.
"""

import functools
import gettext
import re

from training.layouts import library

LANGUAGES = {  # language: weight in the sample
    "en": 24,
    "de": 5,
    "fr": 5,
    "es": 4,
    "tr": 2,
    "vi": 3,
    "pl": 2,
    "it": 1,
    "pt": 1,
    "cs": 1,
    "sv": 1,
    "hu": 1,
    "id": 1,
    "zh-Hans": 16,
    "zh-Hant": 4,
    "ja": 6,
    "ko": 5,
    "ru": 5,
    "uk": 2,
    "el": 3,
    "ar": 4,
    "he": 2,
    "hi": 3,
    "bn": 1,
    "ta": 1,
    "kn": 1,
    "te": 1,
    "th": 2,
    "ka": 1,
    "hy": 1,
    "am": 1,
    "fa": 1,
    "ur": 1,
    "ug": 0.5,
    "my": 1,
    "km": 1,
    "lo": 0.5,
    "si": 0.5,
    "ml": 0.5,
    "gu": 0.5,
    "pa": 0.5,
    "or": 0.5,
    "dz": 0.5,
}
LOCALES = {"zh-Hans": "zh_CN", "zh-Hant": "zh_TW"}
RIGHT_TO_LEFT = {"ar", "he", "fa", "ur", "ug"}
SPACELESS = {"zh-Hans", "zh-Hant", "ja", "th", "my", "km", "lo", "dz"}
WANTS = {  # what a language's writers write, instead of Latin letters
    "zh-Hans": "cjk",
    "zh-Hant": "cjk",
    "ja": "kana",
    "ko": "hangul",
    "ru": "cyrillic",
    "uk": "cyrillic",
    "el": "greek",
    "ar": "arabic",
    "fa": "arabic",
    "ur": "arabic",
    "ug": "arabic",
    "hi": "devanagari",
}

# Labels: name, class, date, score, question, answer, address, phone, signature, total, page,
# true, false, "fill in the blanks", "choose the right answer", "calculate", "read and answer".
LABELS = {
    "en": "Name|Class|Date|Score|Question|Answer|Address|Phone|Signature|Total|Page|True|False|"
    "Fill in the blanks.|Choose the correct answer.|Calculate.|Read the text and answer.",
    "de": "Name|Klasse|Datum|Punkte|Aufgabe|Antwort|Anschrift|Telefon|Unterschrift|Summe|Seite|"
    "richtig|falsch|Setze die fehlenden Wörter ein.|Kreuze die richtige Antwort an.|Rechne.|"
    "Lies den Text und beantworte die Fragen.",
    "fr": "Nom|Classe|Date|Note|Question|Réponse|Adresse|Téléphone|Signature|Total|Page|Vrai|Faux|"
    "Complète les phrases.|Coche la bonne réponse.|Calcule.|Lis le texte et réponds.",
    "es": "Nombre|Clase|Fecha|Puntos|Pregunta|Respuesta|Dirección|Teléfono|Firma|Total|Página|"
    "Verdadero|Falso|Completa los espacios.|Elige la respuesta correcta.|Calcula.|"
    "Lee el texto y responde.",
    "it": "Nome|Classe|Data|Punti|Domanda|Risposta|Indirizzo|Telefono|Firma|Totale|Pagina|Vero|"
    "Falso|Completa le frasi.|Scegli la risposta giusta.|Calcola.|Leggi il testo e rispondi.",
    "tr": "Adı Soyadı|Sınıf|Tarih|Puan|Soru|Cevap|Adres|Telefon|İmza|Toplam|Sayfa|Doğru|Yanlış|"
    "Boşlukları doldurunuz.|Doğru seçeneği işaretleyiniz.|Hesaplayınız.|"
    "Metni okuyup soruları cevaplayınız.",
    "vi": "Họ và tên|Lớp|Ngày|Điểm|Câu|Trả lời|Địa chỉ|Điện thoại|Chữ ký|Tổng cộng|Trang|Đúng|Sai|"
    "Điền vào chỗ trống.|Chọn đáp án đúng.|Tính.|Đọc đoạn văn và trả lời câu hỏi.",
    "pl": "Imię i nazwisko|Klasa|Data|Punkty|Zadanie|Odpowiedź|Adres|Telefon|Podpis|Razem|Strona|"
    "Prawda|Fałsz|Uzupełnij luki.|Wybierz poprawną odpowiedź.|Oblicz.|Przeczytaj i odpowiedz.",
    "ru": "Имя|Класс|Дата|Оценка|Вопрос|Ответ|Адрес|Телефон|Подпись|Итого|Страница|Верно|Неверно|"
    "Вставьте пропущенные слова.|Выберите правильный ответ.|Вычислите.|Прочитайте текст.",
    "uk": "Ім'я|Клас|Дата|Оцінка|Питання|Відповідь|Адреса|Телефон|Підпис|Разом|Сторінка|Так|Ні|"
    "Заповніть пропуски.|Оберіть правильну відповідь.|Обчисліть.|Прочитайте текст.",
    "el": "Όνομα|Τάξη|Ημερομηνία|Βαθμός|Ερώτηση|Απάντηση|Διεύθυνση|Τηλέφωνο|Υπογραφή|Σύνολο|Σελίδα|"
    "Σωστό|Λάθος|Συμπληρώστε τα κενά.|Επιλέξτε τη σωστή απάντηση.|Υπολογίστε.|Διαβάστε.",
    "zh-Hans": "姓名|班级|日期|得分|题|答|地址|电话|签名|合计|页|对|错|填空题。|选择题。把正确答案的序号"
    "填在括号里。|计算下面各题。|阅读短文，回答问题。",
    "zh-Hant": "姓名|班級|日期|得分|題|答|地址|電話|簽名|合計|頁|對|錯|填充題。|選擇題，請選出正確的"
    "答案。|計算題。|閱讀短文並回答問題。",
    "ja": "氏名|組|日付|点数|問|答え|住所|電話番号|署名|合計|頁|○|×|次の（　）にあてはまる言葉を書きな"
    "さい。|正しいものを選びなさい。|計算をしなさい。|次の文章を読んで、問いに答えなさい。",
    "ko": "이름|반|날짜|점수|문제|답|주소|전화번호|서명|합계|쪽|참|거짓|빈칸을 채우세요.|알맞은 답을 고르"
    "세요.|계산하세요.|글을 읽고 물음에 답하세요.",
    "ar": "الاسم|الصف|التاريخ|الدرجة|السؤال|الجواب|العنوان|الهاتف|التوقيع|المجموع|صفحة|صح|خطأ|"
    "املأ الفراغات.|اختر الإجابة الصحيحة.|احسب.|اقرأ النص ثم أجب.",
    "he": "שם|כיתה|תאריך|ציון|שאלה|תשובה|כתובת|טלפון|חתימה|סך הכול|עמוד|נכון|לא נכון|השלימו את "
    "החסר.|בחרו בתשובה הנכונה.|חשבו.|קראו את הקטע וענו.",
    "hi": "नाम|कक्षा|दिनांक|अंक|प्रश्न|उत्तर|पता|फ़ोन|हस्ताक्षर|कुल|पृष्ठ|सही|गलत|रिक्त स्थान भरिए।|सही उत्तर "
    "चुनिए।|हल कीजिए।|गद्यांश पढ़कर उत्तर दीजिए।",
    "th": "ชื่อ|ชั้น|วันที่|คะแนน|ข้อ|คำตอบ|ที่อยู่|โทรศัพท์|ลายเซ็น|รวม|หน้า|ถูก|ผิด|เติมคำในช่องว่าง|"
    "เลือกคำตอบที่ถูกต้อง|จงคำนวณ|อ่านข้อความแล้วตอบคำถาม",
}
LABEL_KEYS = (
    "name class date score question answer address phone signature total page true "
    "false fill choose calculate read"
).split()

EXTRA = {
    "en": "The old lighthouse keeper walked down to the shore every morning.|How many apples are "
    "left in the basket?|Water boils at one hundred degrees at sea level.|My sister plays the "
    "violin on Tuesday afternoons.|A triangle has three sides and three corners.|The train to "
    "the coast leaves at half past nine.|Plants need light, air and water to grow.|Where did "
    "the children find the little grey kitten?|We measured the length of the garden in "
    "steps.|The baker sold forty loaves before noon.|In winter the lake is frozen and people "
    "skate on it.|Write your answer in a complete sentence.|The committee will meet again in "
    "the first week of March.|Please return this form by the end of the month.|Each parcel "
    "weighs two and a half kilograms.|She wrote a long letter to her grandmother.|The river "
    "flows through four countries.|Explain in your own words why the moon changes its shape.",
    "zh-Hans": "小明有十二个苹果，送给妹妹五个，还剩几个？|春天来了，小河边的柳树发芽了。|请把下面的词语"
    "补充完整。|一辆汽车每小时行驶六十千米，三小时行驶多少千米？|我们的学校有一个美丽的花园。|老师"
    "告诉我们要保护环境，节约用水。|图书馆里有三百本故事书。|用“因为……所以……”造句。|长方形的长是"
    "八厘米，宽是五厘米，求它的面积。|秋天的树叶像蝴蝶一样飞舞。|这道题的答案是什么？|姐姐每天早上"
    "七点去上学。|甲乙两地相距四百千米。|把下列句子改成陈述句。|水果店运来苹果和梨共二百四十千克。|"
    "下列各组词语中，没有错别字的一项是|根据课文内容，选择正确的说法。|他在公园里看见了许多五颜六色的"
    "花。|请家长签字并于星期五以前交回。|结合上下文，说说你对这句话的理解。",
    "zh-Hant": "小華有十五枝鉛筆，分給三位同學，每人得幾枝？|夏天的夜晚，我們在院子裡看星星。|請將正確的"
    "答案填入括號中。|這本書的作者是一位著名的科學家。|請寫出下列國字的注音。|爸爸騎腳踏車去上班，"
    "媽媽搭公車。|臺灣四面環海，物產豐富。|依照圖表回答下列問題。",
    "ja": "太郎さんはりんごを八つ買いました。|次の漢字の読みがなを書きなさい。|春になると、桜の花が咲きます。|"
    "毎朝七時に起きて、学校へ行きます。|この川の長さはおよそ三百キロメートルです。|図書館で借りた本を"
    "返してください。|一辺が五センチメートルの正方形の面積を求めなさい。|妹は公園で友達と遊んでいます。|"
    "主人公の気持ちを四十字以内で書きなさい。|水は百度で沸騰します。",
    "ko": "철수는 사과를 열두 개 가지고 있습니다.|봄이 되면 꽃이 핍니다.|다음 글을 읽고 물음에 답하시오.|우리 "
    "학교에는 큰 도서관이 있습니다.|기차는 한 시간에 백 킬로미터를 갑니다.|알맞은 말을 써 넣으세요.|직사각형"
    "의 넓이를 구하시오.|어제는 가족과 함께 바다에 갔습니다.|밑줄 친 부분의 뜻으로 알맞은 것은?",
    "ru": "Мама купила в магазине хлеб и молоко.|Сколько яблок осталось в корзине?|Осенью птицы "
    "улетают на юг.|Найдите значение выражения.|Поезд прошёл триста километров за четыре "
    "часа.|Летом мы ездили к бабушке в деревню.|Запишите решение задачи и ответ.",
    "de": "Der Zug nach Hamburg fährt um halb neun ab.|Im Herbst werden die Blätter bunt.|Wie viele "
    "Äpfel bleiben übrig?|Begründe deine Antwort in ganzen Sätzen.|Die Bäckerin verkauft jeden "
    "Morgen frische Brötchen.|Ein Rechteck hat vier rechte Winkel.",
    "fr": "Le petit chat dort près de la fenêtre.|Combien reste-t-il de pommes dans le panier ?|Au "
    "printemps, les hirondelles reviennent.|Justifie ta réponse par une phrase complète.|Le "
    "train de Lyon part à neuf heures et demie.|Un carré a quatre côtés égaux.",
    "es": "El tren sale a las nueve y media.|¿Cuántas manzanas quedan en la cesta?|En otoño los "
    "árboles pierden sus hojas.|Explica tu respuesta con una oración completa.|Mi hermana toca "
    "el piano los martes.|El agua hierve a cien grados.",
}

FIRST = (
    "Anna Ben Clara David Elif Felix Grace Hugo Ines Jan Karim Lena Maria Noah Olga Paul Quinn "
    "Rosa Samir Tara Uwe Vera Wei Xenia Yusuf Zoe"
).split()
LAST = (
    "Miller Schmidt Garcia Novak Rossi Tanaka Kim Nguyen Petrov Silva Dubois Jansen Larsen Khan "
    "Okafor Moreau Fischer Kowalski Yilmaz Brown Costa Andersson Horvat"
).split()


@functools.cache
def messages(lang):
    """Return the plain texts of all catalogues in a language (English: their keys)."""
    found = set()
    locale = LOCALES.get(lang, "de" if lang == "en" else lang)
    for path in sorted((library.DATA / "texts").glob(f"*/usr/share/locale/{locale}/*/*.mo")):
        if "iso_639-3" in path.name or "iso_639_3" in path.name:
            continue
        try:
            with open(path, "rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog
        except (IndexError, UnicodeDecodeError, OSError):
            continue  # a few old catalogues have broken headers
        for key, value in catalogue.items():
            if lang != "en" and value == key:
                continue  # not translated
            text = key if lang == "en" else value
            if isinstance(text, str) and text.isprintable():
                text = re.sub(r"\(_\w\)|_", "", text).strip(" :…").replace("...", "")
                if not re.search(r"[%<>{}$\\|#/@&]|\.mo|[a-z]\.[a-z]|--", text):
                    found.add(text)
    return sorted(found)


def length(lang, text):
    """Return the length of a text in letters of the Latin kind."""
    return len(text) * (2.5 if lang in ("zh-Hans", "zh-Hant", "ja", "ko") else 1)


@functools.cache
def sentences(lang):
    own = EXTRA.get(lang, "").split("|") if lang in EXTRA else []
    long = [text for text in messages(lang) if 24 < length(lang, text) < 160]
    return own * max(1, len(long) // (4 * max(1, len(own)))) + long or ["0123456789"]


@functools.cache
def terms(lang):
    """Return short texts, one to three words: labels, names of countries and things."""
    found = [text for text in messages(lang) if 3 <= length(lang, text) <= 20]
    return found or ["0123"]


@functools.cache
def words(lang):
    if lang in SPACELESS:
        return [text for text in terms(lang) if len(text) <= 5 and " " not in text] or terms(lang)
    found = set()
    for text in sentences(lang):
        found.update(word.strip(".,;:!?()\"'«»„“”") for word in text.split())
    return sorted(word for word in found if len(word) > 1) or ["000"]


@functools.cache
def characters(lang):
    """Return the characters of a language's sentences, as often as they come."""
    text = "".join(sentences(lang))
    return [c for c in text if c.isalnum() and (ord(c) > 255 or lang not in SPACELESS)]


@functools.cache
def labels(lang):
    if lang in LABELS:
        return dict(zip(LABEL_KEYS, LABELS[lang].split("|")))
    short = terms(lang)
    return {key: short[i * 7919 % len(short)] for i, key in enumerate(LABEL_KEYS)}


def digits_money(rng):
    """Return a printed amount."""
    amount = f"{rng.uniform(1, 10 ** rng.randint(1, 5)):,.2f}"
    return rng.choice(("{}", "${}", "€ {}", "{} €", "£{}", "¥{}", "{} zł", "₩{}")).format(amount)


def date(rng):
    y, m, d = rng.randint(1960, 2035), rng.randint(1, 12), rng.randint(1, 28)
    form = rng.choice(
        ("{y}-{m:02}-{d:02}", "{d:02}.{m:02}.{y}", "{m}/{d}/{y}", "{d:02}/{m:02}/{y}")
    )
    return form.format(y=y, m=m, d=d)


def person(rng):
    return rng.choice(FIRST) + " " + rng.choice(LAST)
