"""Synonyms: words of which people say one and definitions have another. One line is one group; a word may be in several."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman.selection.words import list_stems

_GROUPS = """
film movie cinema
song track music
restaurant eatery dining diner cafe coffeehouse eat food
buy purchase order
book reserve reservation booking
hotel accommodation lodging
house home property apartment
cost price pricing fare
weather forecast temperature
doctor physician dentist
therapist psychologist counselor psychiatrist
hairdresser stylist salon barber
car vehicle
taxi cab ride uber
flight plane airline
trip travel itinerary vacation
delete remove
create add new
update change modify edit
begin start launch
find search lookup
lawsuit litigation court
total sum add
multiply multiplication product
average mean
convert conversion converter
distance far
area surface
send transfer
pay payment
currency money
picture image photo
email mail
message text sms
alarm notification reminder
event appointment meeting calendar schedule
todo task
command cmd
gcd hcf
derivative slope gradient differentiate
integral integrate integration
stock share
salary wage income
nutrition nutritional calorie
recipe cook cooking dish
shop store market
fetch retrieve get
show display
compute calculate
generate create
list enumerate
play listen
route path direction
city town
employee staff
concert gig show
air pollution quality
supermarket grocery
king queen monarch ruler emperor
cleaning housekeeper cleaner maid
psychology psychologist
search google browse internet web online
skirt shirt shoe clothing dress product
person people user
news headline article
president leader
temperature degree celsius fahrenheit
conversion ounce pound gram kilogram liter mile kilometer unit
translate translation
password login credential
log record history
server host
file document
folder directory
team club
game match
picture draw painting
cinema theater theatre
museum gallery exhibition
lawyer attorney
company business firm organization corporation
job career employment occupation
school university college education
medicine drug medication
disease illness symptom
exercise workout fitness gym
note memo
remember recall memory
chat conversation
lamp light
aircon conditioner appliance
speed velocity
weight mass
height tall
bus coach
train rail
"""


def _collect() -> Mapping[str, frozenset[str]]:
    synonyms: dict[str, set[str]] = {}
    for line in _GROUPS.split("\n"):
        stems = set(list_stems(line))
        for stem in stems:
            synonyms.setdefault(stem, set()).update(stems - {stem})
    return {stem: frozenset(others) for stem, others in synonyms.items()}


SYNONYMS = _collect()
"""The other stems of each stem's groups."""
