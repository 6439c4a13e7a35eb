"""Words of other languages for what tools are asked most often: where a text has one, it is read as the English word too.

Of scripts without spaces between words, or with many endings, the beginnings of words are listed and are found anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "weather": "天气 天氣 天気 날씨 погод อากาศ",
    "temperature": "温度 溫度 気温 기온 온도 температур อุณหภูมิ",
    "news": "新闻 新聞 ニュース 뉴스 новост ข่าว",
    "search": "搜索 检索 檢索 搜尋 検索 검색 поиск ค้นหา",
    "find": "查找 寻找 查询 查一下 探し 찾 найди найти หา",
    "information": "信息 資訊 情報 정보 информац ข้อมูล",
    "internet": "互联网 網路 網上 インターネット 인터넷 интернет อินเทอร์เน็ต",
    "translate": "翻译 翻譯 翻訳 번역 перевод переведи แปล",
    "send": "发送 發送 送信 보내 отправ ส่ง",
    "message": "消息 訊息 短信 メッセージ 메시지 сообщен ข้อความ",
    "email": "邮件 郵件 メール 이메일 почт อีเมล",
    "order": "订购 下单 点餐 注文 주문 заказ สั่ง",
    "buy": "购买 买 買 購入 구매 купи ซื้อ",
    "food": "食物 餐 食べ物 음식 еда еду อาหาร",
    "restaurant": "餐厅 餐廳 饭店 レストラン 식당 ресторан ร้านอาหาร",
    "taxi": "出租车 打车 計程車 タクシー 택시 такси แท็กซี่",
    "flight": "航班 机票 機票 飛行機 항공편 비행기 рейс เที่ยวบิน",
    "hotel": "酒店 宾馆 飯店 ホテル 호텔 отел гостиниц โรงแรม",
    "reserve": "预订 预约 預訂 予約 예약 заброниров จอง",
    "price": "价格 價格 値段 가격 цен ราคา",
    "stock": "股票 株価 주식 акци หุ้น",
    "currency": "货币 貨幣 汇率 通貨 환율 валют สกุลเงิน",
    "ticket": "工单 工單 票 チケット 티켓 билет тикет ตั๋ว",
    "list": "列出 一覧 목록 список รายการ",
    "show": "显示 顯示 表示 보여 покажи แสดง",
    "create": "创建 建立 作成 생성 만들 созда สร้าง",
    "delete": "删除 刪除 削除 삭제 удал ลบ",
    "update": "更新 修改 수정 обнов อัปเดต",
    "calculate": "计算 計算 계산 вычисл посчита คำนวณ",
    "convert": "转换 轉換 変換 변환 конверт แปลง",
    "calendar": "日历 日曆 カレンダー 캘린더 календар ปฏิทิน",
    "meeting": "会议 會議 会議 회의 встреч ประชุม",
    "reminder": "提醒 リマインド 알림 напомин เตือน",
    "music": "音乐 音樂 音楽 음악 музык เพลง",
    "movie": "电影 電影 映画 영화 фильм หนัง",
    "user": "用户 用戶 ユーザー 사용자 пользовател ผู้ใช้",
    "file": "文件 檔案 ファイル 파일 файл ไฟล์",
    "database": "数据库 資料庫 データベース 데이터베이스 ฐานข้อมูล",
    "cleaning": "打扫 保洁 清洁 掃除 청소 уборк แม่บ้าน ทำความสะอาด",
    "doctor": "医生 醫生 医者 의사 врач หมอ",
    "map": "地图 地圖 地図 지도 карт แผนที่",
    "distance": "距离 距離 거리 расстоян ระยะทาง",
    "time": "时间 時間 시간 врем เวลา",
    "conditioner": "空调 空調 エアコン 에어컨 кондиционер แอร์",
    "light": "电灯 電燈 照明 조명 свет ไฟ",
    "run": "执行 執行 運行 実行 실행 запус выполни",
    "stop": "停止 중지 останов หยุด",
}

_ENGLISH = {word: english for english, words in _WORDS.items() for word in words.split()}
_FIRST = {word[0] for word in _ENGLISH}
_BY_FIRST = {first: sorted((word for word in _ENGLISH if word[0] == first), key=len, reverse=True) for first in _FIRST}


def translate_words(text: str) -> str:
    """Return the English words for what `text` says in other scripts, in its order, with spaces; "" where it has none."""
    if text.isascii():
        return ""
    text, english, end = text.casefold(), dict[str, None](), 0
    for start, first in enumerate(text):
        if start < end:
            continue  # part of the word before, the longest of those that begin there
        word = next((word for word in _BY_FIRST.get(first, ()) if text.startswith(word, start)), None)
        if word is not None:
            english[_ENGLISH[word]], end = None, start + len(word)
    return " ".join(english)
