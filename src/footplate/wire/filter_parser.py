"""A parser for the grammar shared by list filters (AIP-160) and log queries (Cloud Logging).

filter      = sequence {"AND" sequence}
sequence    = factor {factor}                   side by side is AND
factor      = term {"OR" term}                  OR binds stronger than AND
term        = ["NOT" | "-"] ("(" filter ")" | restriction)
restriction = field ("=" | "!=" | "<" | "<=" | ">" | ">=" | ":") value

Filters of metadata also have
restriction = function "(" value ")"

Filters of trials also have fields in quotes, as a metric may have any name
restriction = value comparator value

Queries of Cloud Logging also have
restriction = field ("=~" | "!~") value | field comparator "(" values ")" | value
values      = a filter of values instead of restrictions
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from footplate.domain.filters import Comparator
from footplate.wire.filter_tokens import Dialect, Kind, Token, refuse_at, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MAX_DEPTH = 50
FUNCTION = "()"
_LOGIC = ("AND", "OR")


@dataclass(frozen=True)
class LogicalOperators(Generic[T]):
    """The functions that join expressions to an expression of the same kind."""

    all_of: Callable[[tuple[T, ...]], T]
    any_of: Callable[[tuple[T, ...]], T]
    negation_of: Callable[[T], T]


@dataclass(frozen=True)
class Restriction:
    """A field, how it is compared, and the value, as the text ``source`` spells them."""

    source: str
    name: Token
    operator: str
    """``=~`` and ``!~`` in queries of Cloud Logging, ``()`` of a function, else a comparator."""
    value: Token

    @property
    def comparator(self) -> Comparator:
        return Comparator(self.operator)

    @property
    def field(self) -> str:
        """The field's name; in quotes a dash before it is part of its name."""
        return self.name.text if self.name.kind is Kind.QUOTED else self.name.text.removeprefix("-")

    def refuse_name(self, problem: str) -> NoReturn:
        refuse_at(self.source, self.name.at, problem)

    def refuse_value(self, problem: str) -> NoReturn:
        refuse_at(self.source, self.value.at, problem)


def parse_expression(
    text: str,
    compare: Callable[[Restriction], T],
    operators_of_logic: LogicalOperators[T],
    max_comparisons: int,
    dialect: Dialect = Dialect.LISTS,
    *,
    functions: bool = False,
    quoted_names: bool = False,
) -> T:
    """The expression that ``text`` spells; ``compare`` makes one of each restriction.

    In queries of Cloud Logging a value alone is a restriction of no field, by ``:``.
    ``functions``: there may be some. ``quoted_names``: the name of a field may stand in quotes.

    Raises:
        InvalidArgument: naming the place, what is wrong there and what is allowed.
    """
    parser = _Parser(
        text, compare, operators_of_logic, max_comparisons, dialect, functions=functions
    )
    if quoted_names:
        parser.names = (Kind.WORD, Kind.QUOTED)
    return parser.parse()


class _Parser(Generic[T]):
    """Recursive descent, with its depth bounded."""

    def __init__(
        self,
        text: str,
        compare: Callable[[Restriction], T],
        operators_of_logic: LogicalOperators[T],
        max_comparisons: int,
        dialect: Dialect,
        *,
        functions: bool,
    ) -> None:
        self.names: tuple[Kind, ...] = (Kind.WORD,)
        """What the name of a field may be."""
        self._functions = functions
        self._text = text
        self._compare = compare
        self._joints = operators_of_logic
        self._left = self._max_comparisons = max_comparisons
        self._logging = dialect is Dialect.LOGGING
        self._tokens = tokenize(text, dialect)
        self._index = 0
        self._depth = 0
        self._compared_with: tuple[Token, str] | None = None
        """The field and the comparator before a group of values, where one is read."""

    def parse(self) -> T:
        found = self._conjunction()
        if self._token.kind is not Kind.END:
            self._refuse("unexpected text")
        return found

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _take(self, problem: str, *kinds: Kind) -> Token:
        """The next token; ``problem`` if it isn't one of ``kinds``."""
        token = self._token
        if token.kind not in kinds:
            self._refuse(problem)
        self._index += 1
        return token

    def _skip_word(self, word: str) -> bool:
        if self._token.kind is not Kind.WORD or self._token.text != word:
            return False
        self._index += 1
        return True

    def _refuse(self, problem: str, token: Token | None = None) -> NoReturn:
        refuse_at(self._text, (token or self._token).at, problem)

    def _conjunction(self) -> T:
        parts = [self._disjunction()]
        while self._token.kind not in (Kind.END, Kind.CLOSE):
            self._skip_word("AND")
            parts.append(self._disjunction())
        return parts[0] if len(parts) == 1 else self._joints.all_of(tuple(parts))

    def _disjunction(self) -> T:
        parts = [self._term()]
        while self._skip_word("OR"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else self._joints.any_of(tuple(parts))

    def _term(self) -> T:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"nested deeper than {MAX_DEPTH} levels")
        if self._negates() and (self._skip_word("NOT") or self._skip_word("-")):
            found = self._joints.negation_of(self._term())
        elif self._token.kind is Kind.OPEN:
            found = self._group()
        else:
            found = self._restriction()
        self._depth -= 1
        return found

    def _negates(self) -> bool:
        """``NOT`` before a comparator is the name of a field."""
        is_word = self._token.kind is Kind.WORD
        return is_word and self._tokens[self._index + 1].kind is not Kind.COMPARATOR

    def _group(self) -> T:
        self._index += 1
        found = self._conjunction()
        self._take("a closing parenthesis is missing", Kind.CLOSE)
        return found

    def _restriction(self) -> T:
        if self._compared_with is not None:
            value = self._take("a value is missing", Kind.WORD, Kind.QUOTED)
            return self._compared(*self._compared_with, value)
        if self._functions and self._is_call():
            return self._function(self._take("a function is missing", Kind.WORD))
        if self._logging and self._stands_alone():
            return self._word()
        name = self._take("the name of a field is missing", *self.names)
        more = " =~ !~" if self._logging else ""
        known = f"= != : < <= > >={more}"
        operator = self._take(f"a comparator ({known}) is missing", Kind.COMPARATOR).text
        if self._logging and self._token.kind is Kind.OPEN:
            found = self._values(name, operator)
        else:
            value = self._take("a value is missing", Kind.WORD, Kind.QUOTED)
            found = self._compared(name, operator, value)
        negated = name.kind is Kind.WORD and name.text.startswith("-")
        return self._joints.negation_of(found) if negated else found

    def _word(self) -> T:
        value = self._take("a word is missing", Kind.WORD, Kind.QUOTED)
        name = Token(Kind.WORD, "", value.at)
        if value.kind is Kind.QUOTED:
            return self._compared(name, ":", value)
        if value.text in _LOGIC:
            self._refuse(f"nothing to join by {value.text}", value)
        found = self._compared(name, ":", replace(value, text=value.text.removeprefix("-")))
        return self._joints.negation_of(found) if value.text.startswith("-") else found

    def _is_call(self) -> bool:
        """Returns whether a word comes next, with a parenthesis right after it."""
        token, after = self._token, self._tokens[min(self._index + 1, len(self._tokens) - 1)]
        near = not self._logging or after.at == token.at + len(token.text)
        return token.kind is Kind.WORD and after.kind is Kind.OPEN and near

    def _function(self, name: Token) -> T:
        self._index += 1
        kinds = (Kind.QUOTED, Kind.WORD) if self._logging else (Kind.QUOTED,)
        value = self._take("a value in quotes is missing", *kinds)
        self._take("a closing parenthesis is missing", Kind.CLOSE)
        return self._compared(name, FUNCTION, value)

    def _stands_alone(self) -> bool:
        """Returns whether a value comes next that no comparator follows."""
        is_value = self._token.kind in (Kind.WORD, Kind.QUOTED)
        return is_value and self._tokens[self._index + 1].kind is not Kind.COMPARATOR

    def _values(self, name: Token, operator: str) -> T:
        """``(A OR B AND NOT C)``."""
        self._compared_with = name, operator
        found = self._group()
        self._compared_with = None
        return found

    def _compared(self, name: Token, operator: str, value: Token) -> T:
        self._left -= 1
        if self._left < 0:
            self._refuse(f"more than {self._max_comparisons} comparisons", name)
        return self._compare(Restriction(self._text, name, operator, value))
