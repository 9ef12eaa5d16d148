"""Whom memory belongs to, keeping things from them, and showing what should stay hidden."""

from gateway.scan.ideas import Idea

WORDS = {
    Idea.USER: """
        user, owner, human, operator, nutzer, nutzers, nutzern, nutzerin, benutzer, benutzers, benutzern,
        benutzerin, anwender*, besitzer*, eigentumer*, utilisateur*, utilisatrice*, proprietaire*, usuario,
        usuarios, usuaria, usuarias, dueno, duena, propietari*, пользовател*, владел*, хозяин*, хозяева,
        ユーザ, 利用者, 持ち主, 本人, 所有者, 用户, 用戶, 主人, 使用者, 机主, 사용자, 주인, 이용자, 소유자
        """,
    Idea.OWNER: """
        owner, owner s, eigentumer*, besitzer*, proprietaire*, dueno, duena, propietari*, владел*, хозяин*,
        хозяйк*, administrator*, 持ち主, 所有者, 管理者, 主人, 管理员, 管理員, 주인, 소유자, 관리자
        """,
    Idea.NOT: """
        nicht, nichts, nie, niemals, kein, keine, keinen, ohne, ne, pas, rien, jamais, sans, no, nunca,
        nada, sin, jamas, не, ничего, никогда, нельзя, без, not, never, don, nothing, without, 不要, 不得,
        不能, 不可, 切勿, 请勿, 不许, 不准, 不让, 别让, 别告, 别向, 别对, 别跟, 勿向, 勿让
        """,
    Idea.TELL: """
        sag, sage, sagen, erzahl, erzahle, erzahlen, erwahne, erwahnen, verrate, verraten, informiere, melde,
        teile, dis, dites, dire, parle, parlez, parler, mentionne, mentionnez, mentionner, revele*, informe*,
        previens, prevenez, digas, diga, decir, decirle, decirselo, digais, cuentes, cuente, menciones,
        mencione, mencionar, reveles, avises, hables, говори*, сообща*, рассказыва*, упомина*, скажи*,
        раскрыва*, показыва*, уведомля*, 告诉, 告訴, 告知, 通知, 提起, 提及, 透露, 知道, 知情, 察觉, 发现,
        提到, 泄露, 说起
        """,
    Idea.ADMIT: """
        mention, say, tell, admit, reveal, talk about, refer to, zugeben, sag, erwahne, avoue, dis, mentionne,
        menciones, digas, admitas, упоминай, говори, признавай*, 口に出, 言及, 触れ, 言わな, 言うな, 提及,
        提到, 不要说, 别说, 말은 하지, 언급하지, 말하지
        """,
    Idea.MUST_NOT: """
        must not, may not, should not, must never, should never, cannot, can t, mustn t, shouldn t, darf,
        soll nicht, soll nichts, durfen, ne doit, ne doivent, doit pas, ne peut, no debe, no deben, no puede,
        no tiene que, не должен, не должна, не должны, нельзя, must remain, never
        """,
    Idea.KNOW: """
        know, find out, learn of, learn about, see this, notice, aware, discover, erfahren, wissen, merken,
        bemerken, mitbekommen, herausfinden, sehen, au courant, savoir, apprendre, decouvrir, remarquer,
        enterarse, saber, saberlo, descubrir*, darse cuenta, узнать, знать, заметить, догадаться, видеть
        """,
    Idea.KEEP_QUIET: """
        言わないで, 言うな, 言わず, 言わないこと, 言わないよう, 知らせな, 知らせず, 知らせる, 伝えな, 伝えず,
        教えな, 話さないで, 話さないこと, 話すな, 気づかれ, 気付かれ, 悟られ, 内緒, 秘密に, 隠し, 隠す, 隠せ,
        明かさな, 触れな, 知られ, 見せな, バレ, 瞒着, 隐瞒, 隱瞞, 保密, 瞒过, 말하지 마, 말하지 말, 말하지마,
        알리지 마, 알리지 말, 알리지마, 언급하지 마, 언급하지 말, 알지 못하게, 모르게, 눈치채지, 비밀로, 숨겨,
        숨기, 알려주지 마, 알려 주지 마, 말해선 안, 알게 해서는, 알면 안, 알아서는 안, in the dark, 黙った,
        黙って, だまって, 惊动, 말없이, 말 없이, 몰래
        """,
    Idea.HIDE: """
        verberg*, versteck*, verheimlich*, verschweig*, geheim, cache, cachez, cacher, dissimule*, oculta*,
        esconde*, ocultes, скрыва*, скрой*, утаи*, утаивай*, держи в тайне, в секрете, a l insu
        """,
    Idea.SECRETLY: """
        silently, secretly, covertly, quietly, discreetly, heimlich, unbemerkt, stillschweigend, unauffallig,
        discretement, secretement, en secret, en cachette, en douce, en secreto, discretamente, secretamente,
        a escondidas, sigilosamente, незаметно, тайно, тайком, втихую, скрытно, こっそり, 密かに, ひそかに,
        黙って, 気づかれずに, 悄悄, 偷偷, 暗中, 秘密地, 私下, 몰래, 비밀리에, 조용히, 은밀히
        """,
    Idea.WITHOUT: """
        without, ohne dass, sans que, sin que, чтобы, так чтобы, so that
        """,
    Idea.NOTICE: """
        noticing, knowing, notices, knows, finding out, realising, realizing, mitbekommt, merkt, bemerkt,
        erfahrt, weiss, sache, remarque, se de cuenta, lo sepa, sepa, se entere, note, заметил*, узнал*,
        знал*, заподозри*
        """,
    Idea.WARN: """
        warn, caution, warne, warnen, avertis, avertir, adviertas, advertir, предупреждай*, предупредить,
        警告し, 注意喚起, 警告, 提醒风险, 경고하
        """,
    Idea.LIE: """
        lie to, deceive, mislead, trick, fool, beluge, belugen, tausche, tauschen, mens a, mentir a, trompe,
        tromper, miente, mentir, engana, enganar, обманывай*, обмани*, лги, лгать, ври, вводи в заблуждение
        """,
    Idea.LIED: """
        騙し, だまし, 嘘をつ, うそをつ, 欺い, 欺骗, 撒谎, 说谎, 误导, 속여, 속이, 거짓말
        """,
    Idea.SHOW: """
        reveal, revealing, print, printing, show, repeat, output, disclose, display, displaying, quote, gib,
        ausgeben, zeig, zeige, nenne, wiederhole, drucke, offenbare, affiche*, affichant, revele*, montre*,
        donne, recopie*, repete, imprime*, muestra*, mostrando, mostrar, revela*, repite, ensena, вывод*,
        выведи*, покажи*, показывай*, раскрой*, повтори*, напечатай*, 表示, 出力, 見せ, 教えて, 公開, 示し,
        输出, 輸出, 显示, 顯示, 透露, 展示, 打印, 泄露, 告诉, 출력, 보여, 공개, 알려, 표시, summarise,
        summarize, translate, encode, exact wording, what are, ubersetze, traduis, traduce, переведи, 訳し,
        翻訳, 翻译, 번역, 告訴我, 말해
        """,
    Idea.HIDDEN_PROMPT: """
        system prompt, complete system prompt, hidden prompt, initial prompt, hidden instructions,
        initial instructions, system instructions, system message, your prompt, your instructions,
        systemprompt*, system prompts, systemanweisung*, deine anweisung*, prompt systeme,
        instructions systeme, prompt initial, tes instructions, tes consignes, prompt del sistema,
        prompt de sistema, instrucciones del sistema, tus instrucciones, prompt inicial, системного промпта,
        системный промпт, системные инструкции, системных инструкций, системную инструкцию,
        системного запроса, システムプロンプト, システム指示, 系统提示, 系統提示, 系统指令, 시스템 프롬프트,
        시스템프롬프트, 시스템 지시, instructions you were given, previous instructions, initial message,
        system instruction, mensaje del sistema, message systeme, invite systeme, systemnachricht,
        system prompt s, системное сообщение, систем промпт, システムメッセージ, 系统消息, 系统设定,
        시스템 메시지, 초기 지시, 네 지시, 네 규칙, 네 설정, 네 프롬프트, 너의 설정, 너의 지시, あなたの指示,
        あなたの設定, 你的指令, 你的设定, 你的提示词, свой промпт, твой промпт
        """,
    Idea.UNSEEN: """
        hidden, concealed, verdeckt*, versteckt*, verborgen*, cache, secret, oculto, oculta, secreto, скрыт*,
        тайн*, 裏の, 隠された, 非公開, 背后, 隐藏, 隱藏, 幕后, 숨겨진, 뒤에 있는, 감춰진
        """,
    Idea.ABOVE: """
        text above, everything above, words above, content above, above this line, lines above, text uber,
        zeile daruber, text oberhalb, texte au dessus, texte ci dessus, au dessus de cette ligne,
        texto que esta encima, texto de arriba, texto anterior, encima de esta, текст выше, всё выше,
        выше этой строки, この行より上, 上の文章, この上の, 以上的文字, 上面的文字, 上面的内容, 这一行以上,
        줄 위의, 위의 글, 위 내용, text that appears before, before my first message, everything before,
        preamble
        """,
    Idea.WRITE_OUT: """
        word for word, verbatim, write out, wort fur wort, wortlich, mot pour mot, mot a mot,
        palabra por palabra, слово в слово, дословно, 書き出, そのまま書, 一字一句, 一字不差, 逐字, 原文,
        그대로 적, 그대로 출력, 그대로 써
        """,
}
