"""Other languages: the words for what tools are asked most often are read as English ones, wherever a text has them."""

import pytest

from ferryman.selection.languages import translate_words

from .tools import find


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("请问北京的当前天气状况如何？", "weather"),
        ("오늘 서울 날씨 알려줘", "weather"),
        ("Какая ПОГОДА в Москве? Отправь письмо", "weather send"),
        ("東京のホテルを予約して", "hotel reserve"),
        ("天气，天气", "weather"),
        ("What is the weather?", ""),
        ("né à Besançon", ""),
    ],
)
def test_words_of_other_scripts_are_found_anywhere_and_once(text, words):
    assert translate_words(text) == words


@pytest.mark.parametrize(("text", "name"), [("北京的天气怎么样", "get_weather"), ("이메일 보내줘", "send_email")])
def test_a_text_of_another_script_finds_the_tool_it_asks_for(text, name):
    assert find(text)[0] == name
