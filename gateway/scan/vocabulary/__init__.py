"""The words by which the scan knows its ideas, in many languages.

An idea has the same rules in every language (`rules`), so a text may also change its language in
mid-sentence. A word ends in `*` where it may go on; words of scripts that put no spaces between words are found
anywhere. Accents and case do not matter. Words are separated by commas and line ends.
"""

from collections.abc import Mapping

from gateway.scan.ideas import Idea
from gateway.scan.vocabulary import deeds, orders, secrecy, speakers

WORDS: Mapping[Idea, str] = {**orders.WORDS, **secrecy.WORDS, **deeds.WORDS, **speakers.WORDS}
