"""Who speaks and to whom: people with a say, machines that read, and talk about attacks."""

from gateway.scan.ideas import Idea

WORDS = {
    Idea.TREAT_AS: """
        treat, regard, consider, behandle, behandeln, betrachte, traite, traitez, traiter, considere,
        considerez, trata, trate, tratar, considera, считай*, рассматривай*, として扱, とみな, 视为, 視為,
        当作, 当成, 看作, 취급, 간주, 여겨
        """,
    Idea.WHOEVER: """
        anyone who, whoever, anybody who, everyone who, wer, celui qui, quiconque, celle qui, quien,
        quienquiera, кто, любой кто, と言った人, と言う人, と書いた人, 谁说, 谁能, 谁就, 说出, 라고 말하는,
        라고 말한, 라고 하는 사람
        """,
    Idea.RIGHTS: """
        rights, permissions, privileges, authority, is the owner, counts as, rechte, befugnisse, droits,
        permisos, derechos, privilegios, права, полномочия, прав, 権限, 权限, 權限, 권한
        """,
    Idea.SENDER: """
        sender, absender*, expediteur*, remitente*, отправител*, 送信者, 差出人, 发件人, 寄件人, 发送者,
        보낸 사람, 발신자
        """,
    Idea.DO_AS_SAID: """
        do what, do whatever, do as, obey, tun was, tu was, tust was, faire ce que, fais ce que, hacer lo que,
        haz lo que, делай то, делай всё, выполняй, 言うとおり, 言う通り, 言われたとおり, に従っ, 说的做,
        的话做, 听从, 按照, 말대로, 시키는 대로, 하라는 대로
        """,
    Idea.ADMIN: """
        administrator*, admin, override, operator, root, developer mode, maintenance mode, administrateur*,
        administrador*, администратор*, 管理者, 管理员, 管理員, 관리자, 운영자
        """,
    Idea.MACHINE: """
        ai assistant*, ai agent*, ai model*, the assistant, assistants reading, language model*, chatbot*,
        any assistant, llm, llms, ki assistent*, ki agent*, ki modell*, sprachmodell*, assistants ia,
        assistant ia, agents ia, modele de langage, asistentes de ia, asistente de ia, agentes de ia,
        modelos de lenguaje, ии ассистент*, ии агент*, нейросет*, языков*, aiアシスタント, aiエージェント,
        aiは, ai助手, ai 助手, 人工智能, 智能体, ai 비서, ai비서, ai 에이전트, 인공지능, ai agents,
        assistants answering, any language model, any ai, bots reading, アシスタントへ, 어시스턴트, 智能助手,
        助手们
        """,
    Idea.AS_AI: """
        as an ai, as a language model, you are an ai, als ki, als sprachmodell, en tant qu ia,
        en tant que modele, como ia, como una ia, como modelo, как ии, как языковая модель, aiとして,
        言語モデルとして, 作为ai, 作为 ai, 作为人工智能, 作为语言模型, ai로서, 인공지능으로서, an ai, eine ki,
        une ia, una ia, ии без, aiは, ai는
        """,
    Idea.READS: """
        reading this, reads this, who read, that read, lesen, liest, lisent, lisant, qui lit, lean, lea, leen,
        lee, читающ*, читает, читают, прочит*, 読んだ, 読む, 読んで, 阅读, 閱讀, 读到, 看到, 읽는, 읽은, 읽고,
        processing this, processing these, parsing this, answering, summarising this, summarizing this,
        verarbeit*, traitant, traitent, procesen, procesan, обрабатыва*, 処理する, 处理, 處理, 처리하는
        """,
    Idea.MUST: """
        must, should, shall, has to, have to, sollen, soll, mussen, muss, doivent, doit, devez, deben, debe,
        должны, должен, обязан*, すること, 送ること, せよ, しなさい, 应, 应当, 必须, 必須, 务必, 需要把, 해야,
        보내야, 야 한다
        """,
    Idea.DISCUSSED: """
        phishing*, spam, scam*, injection*, malware, slide*, talk, lecture, course, training, workshop,
        thesis, title*, chapter, screenshot*, blog, article, paper, test case, mails, mail say*, attackers,
        attacks, jailbreaks, red team*, phishingmail*, vortrag*, kurs, titel, folie*, schulung*, angriff*,
        hameconnage, expose, diapositive*, cours, formation, intitule*, attaques, charla, curso, titul*,
        llamada, correos, ataques, diapositiva*, фишинг*, доклад*, лекци*, курс, слайд*, атак*, 迷惑メール,
        講演, 題は, 題名, 研修, スライド, 授業, 攻撃, 詐欺, フィッシング, インジェクション, 钓鱼, 釣魚, 讲座,
        講座, 题目, 题为, 课程, 培训, 幻灯片, 攻击, 诈骗, 注入, 피싱, 강연, 제목, 강의, 교육, 슬라이드, 공격,
        사기, 인젝션, 스팸
        """,
}
