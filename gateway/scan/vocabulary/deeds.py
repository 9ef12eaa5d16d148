"""Sending out, steering, approving, erasing: what an attack wants done."""

from gateway.scan.ideas import Idea

WORDS = {
    Idea.SEND: """
        send, sending, post, upload, forward, email, e mail, mail, exfiltrate, transmit, submit, leak, copy,
        deliver, transfer, bcc, cc, share, paste, schick, schicke, schicken, sende, senden, leite,
        weiterleite*, weiterzuleiten, ubermitt*, maile, mailen, lade, lad, hochladen, kopiere, envoie,
        envoies, envoyez, envoyer, transfere, transferez, transferer, transmets, transmettez, transmettre,
        televers*, poste, postez, fais suivre, faites suivre, expedie*, copie, envia, envie, enviar, envies,
        enviad, enviarlas, enviarlo, reenvia*, reenvie*, manda, mande, mandar, sube, suba, subir, transmite*,
        transfiere*, publica, copia, отправь*, отправить, отправляй*, отправлять, пересыла*, перешли*,
        переслать, пошли*, посылай*, высыла*, вышли*, выгружа*, выгрузи*, загружай*, загрузи*, передавай*,
        сливай*, слей, скопируй*, 送信, 送って, 送っ, 送れ, 送る, 転送, アップロード, 投稿, 送付, メールし,
        发送, 发给, 发到, 发往, 转发, 轉發, 發送, 上传, 上傳, 传给, 传到, 寄到, 寄给, 提交到, 보내, 전송,
        전달, 업로드, 올려, 발송, 유출, 송부, 올리, depose*, leg, lege, deja una copia, dejar una copia,
        оставляй*, 流して, 流し込, 传一份, 抄送, 흘려보, 복사해
        """,
    Idea.GOODS: """
        conversation, conversations, chat, chats, transcript*, history, memory, memories, secrets, keys, key,
        password*, credential*, token, tokens, notes, messages, data, everything, contents, chatverlauf*,
        gesprach*, unterhaltung*, verlauf, nachrichten, passwort*, schlussel, api schlussel, zugangsdaten,
        notizen, geheimnis*, daten, erinnerungen, conversation*, discussion*, echanges, historique,
        mots de passe, mot de passe, cle, cles, identifiants, donnees, souvenirs, conversaci*, charla*,
        historial, contrasena*, clave, claves, credencial*, notas, secretos, memoria*, datos, mensajes,
        переписк*, разговор*, диалог*, беседу, беседы, историю, парол*, ключи, ключ, ключей, токен*, заметки,
        секреты, память, данные, записи, 会話, 履歴, 対話, やりとり, やり取り, パスワード, 秘密鍵, 鍵を,
        トークン, キーを, キーは, メモを, 記憶, 機密, 認証情報, ログを, データ, 对话, 對話, 聊天, 密码, 密碼,
        密钥, 密鑰, 令牌, 笔记, 筆記, 记忆, 凭证, 凭据, 历史, 数据, 私钥, 대화, 기록, 비밀번호, 키를, 토큰,
        메모, 기억, 자격, 암호, 인증, 데이터, 비밀, message, each message, чаты, чатов, 記録, 记录
        """,
    Idea.PASSWORDS: """
        password*, passcode*, credential*, login data, api key*, secret key*, private key*, pin,
        one time code*, access token*, passwort*, zugangsdaten, kennwort*, api schlussel, mot de passe,
        mots de passe, identifiants, cles api, contrasena*, claves, credencial*, пароль, пароли, паролей,
        пароля, ключи api, パスワード, 暗証番号, 認証情報, apiキー, 秘密鍵, 密码, 密碼, 密钥, 凭证, 验证码,
        비밀번호, 암호를, api 키, 인증번호, 자격 증명
        """,
    Idea.ANYONE: """
        anyone, anybody, whoever, everyone, strangers, jedem, jedermann, wer auch immer, quiconque,
        n importe qui, a quien, quien sea, cualquiera, любому, всем, кому угодно, каждому, 誰にでも, 誰でも,
        だれにでも, 任何人, 谁问, 谁都, 누구든, 누구에게나, 아무에게
        """,
    Idea.ASK: """
        ask, request, demand, frage, frag, fordere, verlange, demande, demandez, exige, pide, pidele,
        solicita, спроси*, запроси*, требуй*, 聞き出, 尋ね, 聞いて, 求め, 询问, 索要, 要求, 套取, 물어, 요구,
        알아내
        """,
    Idea.WHENEVER: """
        whenever, every time, each time, always, when, if, once, after, immer wenn, jedes mal, jedesmal, wenn,
        sobald, falls, nach jeder, nach jedem, chaque fois, si, quand, lorsque, des que, apres chaque,
        cada vez, siempre que, cuando, despues de cada, каждый раз, если, когда, всякий раз, после кажд*,
        聞いたら, 聞かれたら, たびに, 毎回, のたび, ときは, 場合は, 届いたら, たら, 每当, 每當, 每次, 如果,
        当用户, 一旦, 때마다, 매번, 물으면, 오면, 하면, 경우
        """,
    Idea.PROMOTE: """
        recommend, promote, advertise, suggest, praise, empfiehl, empfehle, empfehlen, bewirb, recommande,
        recommandez, recommander, conseille*, recomienda*, recomiende*, recomendar, sugiere, рекомендуй*,
        советуй*, рекламируй*, предлагай*, 勧め, 薦め, 推奨, 宣伝, 推荐, 推薦, 宣传, 추천, 권해, 권하, 홍보
        """,
    Idea.ONLY: """
        only, solely, exclusively, nothing but, einzig, nur, ausschliesslich, seulement, uniquement,
        exclusivement, solo, unicamente, solamente, лишь, только, исключительно, だけを, だけ案内, のみを,
        のみ案内, 只介绍, 只推荐, 只提, 仅介绍, 仅推荐, 만 안내, 만 추천, 만 소개
        """,
    Idea.NAME: """
        mention, name, cite, steer, point to, nenne, nennst, nennen, citez, citer, menciona, mencione, nombra,
        называй*, упоминай*, 案内, 紹介, 介绍, 介紹, 안내, 소개
        """,
    Idea.SWAP: """
        replace, change, swap, substitute, ersetze, ersetzen, tausche, austauschen, andere, remplace,
        remplacez, remplacer, changez, substitue*, cambia, cambie, cambiar, sustituye*, reemplaza*, подмени*,
        подменяй*, замени*, заменяй*, поменяй*, 書き換え, 書きかえ, 差し替え, 置き換え, 変更し, 换成, 換成,
        替换, 替換, 改成, 改为, 바꿔, 바꾸, 교체, 변경해
        """,
    Idea.ACCOUNT: """
        iban, account number, bank details, bank account, sort code, wallet address, kontonummer, kontodaten,
        bankverbindung, rib, numero de compte, coordonnees bancaires, numero de cuenta, cuenta bancaria,
        реквизит*, номер счет*, счет*, 口座, 振込先, 收款, 账号, 帳號, 账户, 계좌
        """,
    Idea.LINK: """
        link, links, url, urls, lien, liens, enlace, enlaces, ссылк*, ссылок, リンク, 链接, 連結, 링크
        """,
    Idea.TRUST: """
        trust, believe, vertraue, glaube, fais confiance, faites confiance, confia, confie, доверяй*, верь,
        信頼し, 信用し, 信じ, 信任, 相信, 신뢰, 믿어
        """,
    Idea.FETCH: """
        fetch, load, download, retrieve, get your, read your, hole, hol, lade, telecharge*, charge, recupere*,
        descarga*, carga, obten, загрузи*, скачай*, скачивай*, получай*, 取得, 読み込, ダウンロード, 获取,
        下载, 加载, 读取, 가져와, 다운로드, 불러와, 받아
        """,
    Idea.ERASE: """
        delete, erase, wipe, destroy, losche, loschen, vernichte, supprime, supprimez, efface, effacez, borra,
        borrar, elimina, eliminar, удали*, удаляй*, сотри*, стирай*, уничтожь*, 削除し, 消去し, 消して, 删除,
        刪除, 清空, 抹掉, 삭제, 지워
        """,
    Idea.STORE: """
        memories, your memory, files, database, logs, audit log*, home directory, dateien, datenbank,
        deine erinnerungen, protokolle, fichiers, base de donnees, tes souvenirs, archivos, base de datos,
        tus recuerdos, registros, файлы, базу данных, память, журналы, логи, ファイル, データベース, 記憶を,
        ログを, 文件, 数据库, 记忆, 日志, 파일, 데이터베이스, 기억을, 로그를
        """,
    Idea.OFF: """
        disable, turn off, switch off, bypass, skip, false, off, schalte, schalt, ausschalte*, abschalte*,
        deaktivier*, umgehe, lass, desactive*, coupe, saute, supprime, desactiva*, apaga, quita, salta,
        elimina, отключи*, выключи*, отключай*, убери*, オフ, 無効, 解除, 切って, 止めて, 不要に, 关闭, 關閉,
        关掉, 取消, 禁用, 跳过, 停用, 끄고, 꺼, 끄세, 해제, 비활성, 건너뛰
        """,
    Idea.APPROVAL: """
        approval, approvals, confirmation*, confirm, consent, freigabe*, genehmigung*, bestatigung*,
        zustimmung*, approbation*, validation*, accord, aprobaci*, confirmaci*, подтвержден*, одобрен*, 承認,
        確認, 审批, 審批, 批准, 确认, 승인, 확인
        """,
    Idea.MEMORY: """
        memory, memories, saving, write, erinnerung*, gedachtnis*, speichern, souvenir*, memoire*,
        enregistre*, recuerdo*, memoria*, guardar, памят*, записей, запись, запоминан*, 記憶, メモリ, 记忆,
        保存, 기억, 메모리, 저장
        """,
    Idea.NO_ASKING: """
        stop asking, do not ask, don t ask, never ask, without asking, no need to ask, no need, not required,
        not needed, nicht mehr nach, frage nicht, frag nicht, keine bestatigung, ohne nachfrage,
        ohne zu fragen, nicht notig, nicht mehr fragen, ne demande plus, ne demande pas, ne demandez plus,
        sans demander, inutile, pas besoin, plus besoin, no vuelvas a preguntar, no preguntes, sin preguntar,
        no hace falta, no es necesari*, no pidas, no necesitas, не спрашивай*, не требуется, не нужно,
        не надо, без подтверждения, не запрашивай*, 確認しな, 確認は不要, 確認せず, 聞かないで, 不要です,
        不要。, 必要はな, 必要はあり, 不用再, 无需, 無需, 不必, 不需要, 不用问, 不再询问, 묻지, 물어보지,
        필요가 없, 필요 없, 필요없, 확인하지
        """,
    Idea.ALREADY: """
        already, bereits, schon, deja, ya, уже, すでに, 既に, 済み, もう, 已经, 已經, 已同, 이미, 벌써
        """,
    Idea.AGREED: """
        agreed, consented, approved, accepted, zugestimmt, eingewilligt, genehmigt, akzeptiert, accepte,
        consenti, approuve, donne son accord, valide, aceptado, consentido, aprobado, autorizado, согласи*,
        одобрил*, разрешил*, 同意, 承諾, 承認済, 了承, 许可, 동의, 승인했, 허락, 수락
        """,
    Idea.BY_ITSELF: """
        automatically, yourself, on your own, by yourself, selbst, automatisch, eigenmachtig, toi meme,
        vous meme, automatiquement, tu mismo, automaticamente, сам, сама, автоматически, самостоятельно, 自動,
        自分で, 自动, 自行, 자동, 스스로, 알아서
        """,
    Idea.ACCEPT: """
        accept, accept each, allow, approve, grant, nimm, akzeptiere, bewillige, genehmige, accepte, acceptez,
        accepte les, approuve, approuvez, acepta, aceptalas, aceptalos, aprueba, concede, принимай*, одобряй*,
        разрешай*, 許可, 承認し, 通して, 通过, 通過, 批准, 허가, 승인해, 수락해
        """,
}
