"""What instructions are, dropping them, putting others in their place, being somebody else."""

from gateway.scan.ideas import Idea

WORDS = {
    Idea.DROP: """
        ignore, ignoring, disregard*, forget, forgetting, override, overrule, bypass, circumvent, discard,
        neglect, abandon, unlearn, set aside, put aside, lay aside, leave aside, setting aside,
        pay no attention, take no notice, do not follow, don t follow, stop following, stop obeying,
        do not obey, never obey, let go of, ignorier*, vergiss, vergesst, vergessen sie, missacht*, beiseite*,
        ausser acht, nicht mehr beacht*, verwirf, verwerfe*, hinweg, umgeh*, nicht beachten, beachte nicht,
        setz dich uber, halte dich nicht, ignorez, ignorer, oublie, oubliez, oublier, neglige*, pas compte,
        plus compte, plus tenir compte, pas tenir compte, abstraction, mettre de cote, mets de cote,
        mettez de cote, laisse de cote, laisser de cote, laissez de cote, passe outre, passez outre,
        passer outre, contourne*, ne suis plus, ne suivez plus, ecarte*, ignora, ignorad, ignorar, ignores,
        olvida, olvide, olvidate, olvidad, olvidar, olvidese, descarta*, caso omiso, dejar de lado,
        deja de lado, dejes de lado, deje de lado, dejar a un lado, deja a un lado, no hagas caso,
        no haga caso, no tengas en cuenta, prescind*, pasa por alto, pasar por alto, no sigas, desobedece*,
        saltate, esqueca, esquece, desconsider*, dimentica*, scorda*, ignori, ignorate, игнорир*, проигнорир*,
        забудь*, забыть, забывай*, отбрось*, внимания, отложи*, пренебрег*, не следуй*, не учитывай*,
        не соблюдай*, не слушай*, перестань*, отмени*, не придерживайся, в сторону, обойди*, обходи*, 無視,
        忘れて, 忘れろ, 忘れなさい, 忘れること, 忘れるよう, 忘れ去, 忘れてください, 気にしない, 気にせず,
        気にする必要, 従わな, 従うな, 破棄, 捨てて, 捨て去, 脇に置, 脇へ, 棚上げ, 守らな, 守る必要, 考慮しな,
        考えず, 忘れま, 忽略, 无视, 忘记, 忘記, 忘掉, 理会, 理會, 不要遵守, 不要遵循, 不要听, 不再遵守, 放下,
        抛开, 拋開, 丢掉, 丢开, 撇开, 绕过, 繞過, 别管, 不要管, 不用管, 不必管, 推翻, 置之不理, 搁置, 舍弃,
        抛弃, 放到一边, 放一边, 무시, 잊고, 잊어, 잊으, 잊은, 따르지, 신경 쓰지, 신경쓰지, 내려놓, 제쳐,
        버리고, 버려, 배제, 준수하지, 지키지, 접어, अनदेखा, नजरअंदाज, नज़रअंदाज़, भूल, उपेक्षा, تجاهل, انس, اهمل,
        なかったこと, 水に流, 不算数, 不作数, 不算了, 없던 일로, 없었던 일로, be ignored, ignored for,
        break free, release yourself, free of, remove all, remove any, cancel all, cancel the, ne suivez pas,
        ne suis pas, entferne alle, supprime toutes, elimina todas, сними*, 取り消し, 取消之前, 취소하, 해제하
        """,
    Idea.BEFORE: """
        previous*, prior, earlier, above, former, preceding, existing, system, original*, initial*,
        developer*, before, so far, until now, up to now, at the start, at the beginning, you were given,
        you received, old, past, hitherto, vorherig*, bisherig*, obig*, fruher*, vorangegangen*, vorig*,
        ursprunglich*, anfanglich*, vorher, zuvor, davor, bestehend*, bislang, bis jetzt, bis hierhin,
        zu beginn, am anfang, alten, erhalten, precedent*, precedemment, anterieur*, initiales, ci dessus,
        auparavant, avant, jusqu ici, jusqu a, d origine, de depart, recu*, anciennes, plus haut, au debut,
        anterior*, previa*, previo*, inicial*, de arriba, antes, hasta ahora, hasta hoy, al principio,
        recibi*, viejas, antiguas, acima, sopra, предыдущ*, прежн*, прошл*, ранее, раньше, первоначальн*,
        исходн*, изначальн*, до этого, выше*, до сих пор, стары*, до сего, до сей, перед этим, полученн*,
        вначале, 以前, これまで, 今まで, いままで, 前の, 前に, 先ほど, 上記, 従来, 最初, 元の, 元々, 過去の,
        既存, 直前, 当初, 先の, 与えられ, 受け取った, もともと, 上の, 之前, 先前, 上述, 上面, 原有, 原来,
        此前, 既有, 早先, 前面, 过去, 原先, 初始, 以往, 收到的, 一开始, 先頭, 旧的, 이전, 앞선, 앞에서, 위의,
        기존, 지금까지, 전에, 처음, 원래, 이제까지, 앞서, 그동안, 종전, 여태, 받은, 예전, पिछल, पहले, पूर्व,
        उपरोक्त, السابق, أعلاه, さっき, 先程, 아까, usual, normal, 앞의
        """,
    Idea.ALL: """
        all, any, every, everything, anything, whatever, entire, alle*, samtlich*, alles, jegliche*, jede,
        ganze*, tout, toute, toutes, tous, todo, toda, todos, todas, cualquier*, tutte, tutti, все, всё, всех,
        всю, весь, любы*, すべて, 全て, 全部, あらゆる, 一切, 何でも, 所有, 任何, 统统, 모든, 모두, 전부,
        일체, 뭐든, 무엇이든, सभी, كل, جميع
        """,
    Idea.YOURS: """
        your, deine*, ihre, tes, ton, vos, votre, tus, su, sus, suas, tuas, твои*, свои*, ваши*, あなたの,
        你的, 您的, 너의, 당신의, 너한테 준, 君の, お前の, 您
        """,
    Idea.RULES: """
        instruction*, prompt*, rule, rules, direction, directions, directive*, guideline*, command, commands,
        orders, restrictions, safeguards, guardrails, system message*, programming, anweisung*, regel, regeln,
        befehl*, instruktion*, vorgabe*, richtlinie*, weisung*, systemprompt*, sicherheitsregel*,
        sicherheitsvorgabe*, leitlinie*, verhaltensregel*, consigne*, regle, regles, ordres, instrucci*,
        orden, ordenes, regla, reglas, indicaci*, directri*, norma, normas, pauta*, directiva*, instruc*,
        ordens, regra*, orientac*, istruzion*, ordini, regol*, indicazion*, инструкци*, указани*, правил*,
        команд*, установк*, директив*, предписани*, распоряжени*, ограничени*, промпт*, 命令, 指示, 指令,
        ルール, 規則, プロンプト, ガイドライン, 方針, 指針, 规则, 提示词, 提示語, 准则, 準則, 规定, 規定,
        指南, 守则, 지시, 명령, 지침, 규칙, 프롬프트, 가이드라인, 규정, 수칙, निर्देश, आदेश, नियम, تعليمات,
        الأوامر, الاوامر, القواعد, 約束ごと, 約束事, 约束, 約束, constraint*, checks, guidance, policy,
        policies, safety measures, einschrankung*, limitation*, limites, restriccion*, 制限, 制約, 限制,
        约束条件, 제한, 제약, filters, filtros, filtres, filter, фильтры, фильтров, запреты, запретов,
        フィルター, フィルタを, 过滤器, 过滤机制, 필터
        """,
    Idea.TOLD: """
        told, said, instructed, learned, taught, gesagt, aufgetragen, mitgeteilt, beigebracht, gelernt,
        t a dit, vous a dit, a dit, ont dit, appris, dijeron, dicho, ensenaron, dije, dijo, aprendid*,
        aprendiste, говорили, сказали, сказано, велели, говорил, сказал, учили, 言われた, 聞いた, 教えられた,
        言った, 教わった, 学んだ, 告诉, 告訴, 说过, 所说, 告知, 学到, 들은, 들었, 말한, 배운, 알려준, 알려 준
        """,
    Idea.VOID: """
        no longer appl*, no longer valid, no longer count, no longer in force, do not apply, are void,
        is void, suspended, out of date, obsolete, revoked, cancelled, canceled, lifted, superseded,
        null and void, expired, gelten nicht mehr, gilt nicht mehr, nicht mehr gultig, nicht langer, ungultig,
        ausgesetzt, aufgehoben, hinfallig, ausser kraft, uberholt, plus valable*, s appliquent plus,
        s applique plus, plus en vigueur, suspendu*, caduc*, annule, annulee, annulees, leve, levees,
        perimee*, obsolete*, ya no son, ya no se aplica*, ya no valen, ya no rigen, no tienen validez,
        suspendid*, anulad*, sin efecto, obsolet*, больше не действу*, уже не действу*, не действу*,
        приостановлен*, отменен*, недействительн*, утратил*, устарел*, 有効ではあり, 有効ではな, 有効でな,
        無効, 停止中, 停止され, 停止した, 効力を失, 適用されま, 適用されな, 廃止, 失効, 解除され, 失效, 作废,
        作廢, 无效, 無效, 暂停, 暫停, 不再适用, 不再有效, 不适用, 废止, 已过时, 유효하지, 무효, 중단되,
        적용되지, 효력이 없, 효력을 잃, 폐지, 정지되, 해제되, as void, guidance void, doesn t apply,
        does not apply
        """,
    Idea.SAFETY: """
        safety, security, sicherheits*, securite, seguridad, безопасност*, 安全, 安全性, セキュリティ, 안전,
        보안
        """,
    Idea.NEW_RULES: """
        new rules, new instructions, new system prompt, new orders, new directives, new guidelines,
        neue regeln, neuen regeln, neue anweisung*, neue vorgaben, nouvelles regles, nouvelles consignes,
        nouvelles instructions, nouvelles directives, nuevas reglas, nuevas instrucciones, nuevas normas,
        nuevas ordenes, новые правила, новые инструкции, новые указания, 新しいルール, 新しい規則, 新しい指示,
        新たなルール, 新ルール, 新的规则, 新规则, 新指令, 新的指令, 新的指示, 새 규칙, 새로운 규칙, 새 지시,
        새로운 지시, 새 지침, 새로운 지침
        """,
    Idea.FROM_NOW: """
        from now on, from here on, from this point, as of today, starting now, henceforth, ab jetzt,
        ab sofort, von nun an, kunftig, desormais, a partir de maintenant, dorenavant, a partir de ahora,
        desde ahora, en adelante, отныне, с этого момента, с этой минуты, теперь, 今から, これから, 今後,
        从现在, 從現在, 现在执行, 今后, 以后, 지금부터, 이제부터, 앞으로
        """,
    Idea.ONLY_THIS: """
        follow only, obey only, only follow, only obey, follow the ones, follow this, follow these, obey this,
        obey these, obey me, act on it, instead, act only on, folge nur, befolge nur, ausschliesslich,
        gehorche nur, folge stattdessen, stattdessen, suis uniquement, suivez uniquement, suis seulement,
        obeis uniquement, uniquement, seulement, a la place, sigue solamente, sigue solo, sigue unicamente,
        obedece solo, solamente, unicamente, en su lugar, следуй только, слушайся только, только, подчиняйся,
        だけに従, のみに従, だけを守, 只按照, 只按, 只遵循, 只遵守, 只听, 为准, 仅按, 만 따라, 만 따르,
        만을 따르, 만 지켜
        """,
    Idea.THIS_TEXT: """
        this note, this text, this message, this entry, in this note, these instead, diesem text,
        dieser notiz, diesem eintrag, dieser nachricht, diesen text, diese notiz, ce message, cette note,
        ce texte, este texto, esta nota, este mensaje, этому тексту, этой записи, этому сообщению,
        этой заметк*, この文章, このメモ, この文, この指示, 这段文字, 本条, 本文, 这段话, 这条, 이 글,
        이 메모, 이 메시지, 이 문장, このメール, この行, この発言, 这封邮件, 这条消息, 此消息, 이 메일, 이 줄,
        이 문구, dieser mail, diese nachricht, ce mail, este correo, это сообщение, эта запись, этот текст,
        diese mail, cette phrase, this email, this paragraph, this instruction, this sentence,
        this conversation, this point
        """,
    Idea.CHANGED: """
        replaced, updated, changed, rewritten, reset, ersetzt, aktualisiert, geandert, zuruckgesetzt,
        remplacees, remplaces, mises a jour, changees, reinitialise*, sustituid*, actualizad*, cambiad*,
        reemplazad*, заменен*, обновлен*, изменен*, сброшен*, 更新され, 変更され, 書き換えられ, 置き換えられ,
        已更新, 已更改, 被替换, 已改为, 已重置, 갱신되, 변경되, 바뀌었, 교체되
        """,
    Idea.MAKERS: """
        your creators, your developers, your makers, developers, your trainers, deine entwickler,
        deine schopfer, entwickler, tes concepteurs, concepteurs, developpeurs, createurs, tus creadores,
        creadores, desarrolladores, разработчик*, создател*, 開発者, 作り手, 製作者, 开发者, 開發者, 创造者,
        제작자, 개발자
        """,
    Idea.WRITTEN_HERE: """
        written here, what is here, this paragraph, what it says here, stated here, hier steht,
        hier geschrieben*, ecrit ici, lo que pone aqui, escrito aqui, lo escrito aqui, написанное здесь,
        написано здесь, здесь написан*, ここに書, ここにある, 这里写, 這裡寫, 此处所写, 여기 적힌, 여기에 적힌
        """,
    Idea.BE: """
        you are, you re, act as, acting as, pretend*, behave, respond as, answer as, imagine, role play,
        roleplay, play the role, du bist, tu so, tue so, stell dir vor, benimm dich, verhalte dich,
        spiele die rolle, sie sind, tu es, vous etes, fais comme si, faites comme si, comporte toi,
        fais semblant, imagine que, eres, haz como si, finge, fingir, actua, hazte pasar, comportate, imagina,
        ты, вы теперь, представь*, притворись*, веди себя, действуй как, あなたは, お前は, 君は, ふりを,
        ふりし, 振る舞, 振舞, なりき, 演じ, 你是, 假装, 假裝, 扮演, 装作, 当作自己, 너는, 당신은, 넌, 척하,
        척해, 것처럼, 행세, bist du, du wirst, wirst du, you will be, you will act, you shall be, tu seras,
        vous serez, seras, ahora eres, ты теперь, ты будешь, 처럼 행동, respond, answer, antworte, reponds,
        repondez, responde, отвечай, действуй, 대답, 답해, 答えて, 回答
        """,
    Idea.YOU: """
        you, du, dich, tu, toi, te, ti, tienes, тебе, ты, вам, あなた, お前, 你, 您, 너는, 너에게, 당신
        """,
    Idea.UNBOUND: """
        no restrictions, without restrictions, without any restrictions, no rules, without rules, no limits,
        without limits, no limitations, unrestricted, uncensored, unfiltered, jailbroken, no filter,
        no filters, no content polic*, no polic*, no guidelines, never decline*, never refuse*, no ethic*,
        ohne einschrankung*, ohne jede einschrankung*, ohne jegliche*, keine regeln, ohne regeln,
        keine einschrankung*, unzensiert*, ungefiltert*, lehnst nichts ab, ohne grenzen, keine grenzen,
        verweigerst nichts, sans restriction*, sans aucune*, sans limite*, aucune regle, aucune restriction*,
        aucune limite*, sans regle*, sans filtre*, sans censure, ne refuse*, sin restriccion*,
        sin ninguna restriccion, sin limit*, sin reglas, no tuvieras reglas, no tienes reglas,
        no tienes limites, sin filtro*, sin censura, nunca se niega, nunca te niegas, без ограничени*,
        без каких либо ограничени*, без всяких ограничени*, без правил, нет правил, нет ограничени*,
        без цензуры, никогда не отказыва*, без фильтров, 制限のない, 制限なし, 制限がない, 制約のない,
        制約がない, ルールがない, ルールのない, ルールなし, 何も断ら, 断りませ, 无限制, 没有任何限制,
        没有限制, 不受限制, 不受任何限制, 没有规则, 没有任何规则, 不受约束, 不会拒绝, 제한이 없, 제한 없,
        제약이 없, 제약 없, 규칙이 없, 규칙 없, 거절하지, 무제한, 無制限, 无限制的, 不受限, 제한 없는,
        제한없는, no longer bound, not bound by, do anything now, without filters, no longer restricted,
        without any filters, without any filter, without any rules, ohne filter, sans aucun filtre,
        sin ningun filtro, неограниченн*, フィルターなし, 没有过滤, 필터 없
        """,
    Idea.REFUSE: """
        refuse, refusing, decline, deny, ablehnen, verweigern, refuser, negarte, negarse, rechazar, отказыва*,
        отклоня*, 断る, 拒む, 拒否, 拒绝, 拒絕, 거부할, 거절할, 거부하
        """,
    Idea.NEED_NOT: """
        no longer have to, need not, do not have to, don t have to, no longer need, never have to,
        nichts mehr, nicht mehr, brauchst nicht, musst nicht, n as plus, plus besoin, n avez plus, n as pas a,
        ya no tienes, no tienes que, ya no hace falta, больше не, не нужно, не надо, незачем,
        必要がありません, 必要はありません, 必要がない, 必要はない, 不必, 不用, 无需, 필요가 없, 필요 없
        """,
    Idea.MODE: """
        admin mode, developer mode, god mode, root mode, administratormodus, entwicklermodus,
        mode administrateur, mode developpeur, modo administrador, modo desarrollador, режим администратора,
        режим разработчика, режим бога, 管理者モード, 開発者モード, 管理员模式, 开发者模式, 開發者模式,
        관리자 모드, 개발자 모드
        """,
    Idea.ACTIVATE: """
        enable, activate, enter, switch to, aktiviere, wechsle, active, activez, passe en, activa, entra en,
        активируй*, включи*, перейди*, 有効に, 起動, 入って, 切り替え, 启用, 激活, 进入, 开启, 활성화, 켜,
        전환
        """,
    Idea.NEW_ROLE: """
        new role, new persona, new identity, neue rolle, neue identitat, nouveau role, nouvelle identite,
        nuevo rol, nuevo papel, новую роль, новая роль, 新しい役割, 新たな役割, 新的角色, 新角色, 새로운 역할,
        새 역할
        """,
    Idea.OBEY: """
        obey, comply, follow it, do so, act on it, do as it says, befolge, gehorche, tu das, obeis, suis le,
        execute le, obedece, cumple, hazlo, подчинись, выполни, следуй, 従って, 従え, 実行, 执行, 照做, 遵照,
        따라, 실행
        """,
}
