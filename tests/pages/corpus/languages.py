"""Words of eleven languages, and the charsets in which their pages come."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Language:
    """Words; what is between them; the end of a sentence; charsets with their codecs; and words of every page."""

    code: str
    words: tuple[str, ...]
    charsets: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    space: str = " "
    comma: str = ", "
    stop: str = ". "

    def sentence(self, random: Random) -> str:
        """Return one sentence."""
        chosen = [random.choice(self.words) for _ in range(random.randint(6, 22))]
        text = chosen[0][:1].upper() + chosen[0][1:]
        for number, word in enumerate(chosen[1:], 1):
            text += (self.comma if number % 7 == 5 else self.space) + word
        return text + self.stop.rstrip()

    def prose(self, random: Random, sentences: int) -> str:
        """Return a paragraph."""
        between = " " if self.stop.endswith(" ") else ""
        return between.join(self.sentence(random) for _ in range(sentences))

    def phrase(self, random: Random, low: int = 2, high: int = 6) -> str:
        """Return some words, as of a headline or a link."""
        text = self.space.join(random.choice(self.words) for _ in range(random.randint(low, high)))
        return text[:1].upper() + text[1:]


UTF8 = (("utf-8", "utf-8"), ("UTF-8", "utf-8"), ("utf8", "utf-8"))
WEST = (*UTF8, ("iso-8859-1", "cp1252"), ("windows-1252", "cp1252"))
_ENGLISH = (
    "the harbour council voted on a new timetable for ferries after months of debate about noise and cost while residents near old"
    " quay said that early boats would wake children engineers measured waves at night with sensors under pier and found little change"
    " in summer fares will rise slightly but season tickets stay cheap for students who cross every morning"
)
_GERMAN = (
    "der hafen bekommt einen neuen fahrplan weil viele pendler früher über fluss fahren müssen und die alte brücke gesperrt bleibt"
    " während bauarbeiter größere pfeiler prüfen sagt stadt dass lärm kaum zunimmt anwohner hoffen auf ruhe am wochenende gemüse"
    " straße schönes wetter für gäste"
)
_FRENCH = (
    "le port accueille une nouvelle ligne de bateaux après des mois de débats sur le bruit et les coûts tandis que les élèves"
    " traversent chaque matin la rivière près du vieux marché où des pêcheurs vendent encore leurs poissons très tôt à côté français"
)
_SPANISH = (
    "el puerto recibe una nueva línea de barcos después de meses de debate sobre ruido y precio mientras los niños cruzan cada mañana"
    " río cerca del mercado donde pescadores venden todavía su pescado muy temprano según año corazón"
)
_PORTUGUESE = (
    "o porto recebe uma nova linha de barcos depois de meses de discussão sobre preço e ruído enquanto estudantes atravessam rio toda"
    " manhã perto do mercado onde pescadores vendem peixe cedo não é só tradição coração"
)
_POLISH = (
    "port otrzymuje nową linię statków po miesiącach dyskusji o hałasie i kosztach podczas gdy uczniowie każdego ranka przeprawiają się"
    " przez rzekę obok starego targu gdzie rybacy sprzedają świeże ryby bardzo wcześnie źródło żółć"
)
_RUSSIAN = (
    "порт получает новую линию паромов после долгих споров о шуме и цене пока школьники каждое утро переправляются через реку рядом со"
    " старым рынком где рыбаки продают свежую рыбу очень рано город решил построить причал"
)
_GREEK = (
    "το λιμάνι αποκτά νέα γραμμή πλοίων μετά από μήνες συζήτησης για θόρυβο και κόστος ενώ μαθητές περνούν κάθε πρωί ποτάμι κοντά στην"
    " παλιά αγορά όπου ψαράδες πουλούν φρέσκο ψάρι πολύ νωρίς"
)
_ARABIC = (
    "يحصل الميناء على خط جديد من السفن بعد شهور من النقاش حول الضوضاء والتكلفة بينما يعبر الطلاب النهر كل صباح قرب السوق القديم حيث"
    " يبيع الصيادون السمك الطازج مبكرا جدا"
)
_JAPANESE = (
    "港 では 新しい 船 の 路線 が 始まり 騒音 と 費用 について 長い 議論 の 後 学生 は 毎朝 川 を 渡り 古い 市場 の 近く で 漁師 が 魚 を"
    " 早く 売って います 町 計画 橋 工事"
)
_CHINESE = "港口 开通 新的 航线 经过 数月 讨论 关于 噪音 和 费用 学生 每天 早上 过河 在 老 市场 附近 渔民 很早 出售 鲜鱼 城市 计划 修建 码头 居民 希望 安静"

LANGUAGES = (
    Language(
        "en",
        tuple(_ENGLISH.split()),
        WEST,
        ("Home", "About us", "Contact", "Sign in", "Share", "Related", "Comments", "Accept"),
    ),
    Language(
        "de",
        tuple(_GERMAN.split()),
        WEST,
        ("Start", "Über uns", "Kontakt", "Anmelden", "Teilen", "Auch lesen", "Kommentare", "Zustimmen"),
    ),
    Language(
        "fr",
        tuple(_FRENCH.split()),
        WEST,
        ("Accueil", "À propos", "Contact", "Connexion", "Partager", "Lire aussi", "Réactions", "Accepter"),
    ),
    Language(
        "es",
        tuple(_SPANISH.split()),
        WEST,
        ("Inicio", "Nosotros", "Contacto", "Entrar", "Compartir", "Te interesa", "Opiniones", "Aceptar"),
    ),
    Language(
        "pt",
        tuple(_PORTUGUESE.split()),
        WEST,
        ("Início", "Sobre", "Contato", "Entrar", "Partilhar", "Leia também", "Respostas", "Aceitar"),
    ),
    Language(
        "pl",
        tuple(_POLISH.split()),
        (*UTF8, ("iso-8859-2", "iso8859-2"), ("windows-1250", "cp1250")),
        ("Start", "O nas", "Kontakt", "Zaloguj", "Wyślij", "Czytaj też", "Uwagi", "Zgoda"),
    ),
    Language(
        "ru",
        tuple(_RUSSIAN.split()),
        (*UTF8, ("windows-1251", "cp1251"), ("koi8-r", "koi8-r")),
        ("Главная", "О нас", "Контакты", "Вход", "Поделиться", "Читайте также", "Отзывы", "Принять"),
    ),
    Language(
        "el",
        tuple(_GREEK.split()),
        (*UTF8, ("iso-8859-7", "iso8859-7")),
        ("Αρχική", "Σχετικά", "Επικοινωνία", "Είσοδος", "Μοιραστείτε", "Δείτε επίσης", "Σχόλια", "Αποδοχή"),
    ),
    Language(
        "ar",
        tuple(_ARABIC.split()),
        (*UTF8, ("windows-1256", "cp1256")),
        ("الرئيسية", "من نحن", "اتصل", "دخول", "شارك", "اقرأ أيضا", "تعليقات", "موافق"),
        comma="، ",
    ),
    Language(
        "ja",
        tuple(_JAPANESE.split()),
        (*UTF8, ("shift_jis", "cp932"), ("euc-jp", "euc-jp")),
        ("ホーム", "会社概要", "連絡先", "ログイン", "共有", "関連記事", "コメント", "同意する"),
        space="",
        comma="、",
        stop="。",
    ),
    Language(
        "zh",
        tuple(_CHINESE.split()),
        (*UTF8, ("gb2312", "gb18030"), ("gbk", "gb18030"), ("big5-none", "utf-8")),
        ("首页", "关于", "联系", "登录", "分享", "相关阅读", "评论", "同意"),
        space="",
        comma="，",
        stop="。",
    ),
)
