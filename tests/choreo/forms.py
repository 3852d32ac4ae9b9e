"""Expressions over agreed values: those that may come to something else at each party, and those that cannot."""

from __future__ import annotations

HEAD = """
from dataclasses import field
import copy, struct, itertools, functools, json, textwrap, types, enum, re
import collections, decimal, datetime, dataclasses, statistics, unicodedata, html, base64
from enum import Enum, auto
from struct import pack, calcsize as size
from copy import deepcopy
from functools import partial, reduce
class Color(Enum):
    RED = 1
@dataclass
class Holder:
    thing: Thing
@dataclass
class Bag:
    items: set[str]
@dataclass(repr=False)
class Quiet:
    x: int
class Child(Thing):
    pass
class Box(Exception):
    pass
def show(x):
    return str(x)
def same(x):
    return x
def give(n: int):
    return Thing(n)
def words_of(x):
    return "%s" % x
class Lucky:
    def __init__(self):
        self.x = random.random()
class Heir(Lucky):
    pass
def twist(c):
    c.__len__ = lambda self: random.randrange(9)
    return c
@twist
class Twisted:
    pass
class Assigned:
    __len__ = lambda self: random.randrange(9)
class Patched:
    pass
Patched.__len__ = lambda self: random.randrange(9)
class Meta(type):
    def __call__(cls):
        return random.random()
class Made(metaclass=Meta):
    pass
@dataclass
class Default:
    x: float = time.time()
@dataclass
class Factory:
    x: float = field(default_factory=time.time)
class Descr:
    def __get__(self, *a):
        return time.time()
class With:
    x = Descr()
def deco(f):
    return lambda *a: random.random()
class Deco:
    @deco
    def far(self):
        return 1
    @property
    def when(self):
        return time.time()
    def keys(self):
        return [1]
class Sub(Deco):
    pass
class If:
    if k_ := 1:
        def __len__(self):
            return random.randrange(4)
def gen(n: int):
    yield n
    yield random.random()
def strange(x):
    return list(x)
def maybe(n: int) -> "list[int] | set[int]":
    return {n}
ALIAS = list
H = hash
"""

OWN = """
str(copy.copy(Thing(k))) ;; str(deepcopy(Thing(k))) ;; struct.calcsize('l') ;; size('l') ;; struct.calcsize('@q')
pack('l', k) ;; struct.pack('P', k) ;; struct.pack('=l', k) ;; sys.getsizeof(words) ;; hash(text) ;; hash((text, k))
id(words) ;; '{}'.format(Thing(k)) ;; '{}'.format(s) ;; '{:n}'.format(k) ;; f'{k:n}' ;; format(k, 'n')
'{0.__class__}'.format(k) ;; '%s' % (Thing(k),) ;; '%r' % [Thing(k)] ;; list(map(str, [Thing(k)]))
sorted([Thing(k), Thing(2)], key=str) ;; max([Thing(k), Thing(2)], key=repr) ;; operator.is_(k, 257)
operator.is_not(text, words[0]) ;; operator.mod('%s', Thing(k)) ;; list(map([hash][0], words))
list(map(hash if k else len, words)) ;; str(map(len, words)) ;; str(iter(words)) ;; str(lambda: 1) ;; str(show) ;; str(Thing)
str(type(Thing(k))) ;; repr(Point) ;; str(itertools.chain(words)) ;; str(functools.partial(len)) ;; str(Holder(Thing(k)))
str(Bag(set(words))) ;; f'{Bag(set(words))}' ;; str(Quiet(k)) ;; str(Child(k)) ;; str(give(k)) ;; show(Thing(k))
words_of(Thing(k)) ;; show(give(k)) ;; str(same(Thing(k))) ;; str([same(Thing(k))]) ;; str({'a': Thing(k)})
str((Thing(k),)[0]) ;; str([Thing(k)][0]) ;; str(dict(a=Thing(k))) ;; str(words and Thing(k))
str(k if k > 9 else Thing(k)) ;; str([Thing(n) for n in board]) ;; str(list(map(Thing, board)))
str(next(iter([Thing(k)]))) ;; str(max([Thing(k)], key=lambda t: t.n)) ;; str(functools.reduce(lambda a, b: b, [Thing(k)]))
json.dumps({'a': Thing(k)}, default=str) ;; json.dumps(k, default=repr) ;; ' '.join(map(repr, [Thing(k)])) ;; print(Thing(k))
str(deque([Thing(k)])) ;; str(Counter([Thing(k)])) ;; str(collections.ChainMap({'a': Thing(k)})) ;; str(object)
str(types.SimpleNamespace(a=Thing(k))) ;; str(dataclasses.asdict(Holder(Thing(k))))
str(dataclasses.replace(Holder(Thing(k)))) ;; str(operator.itemgetter(0)) ;; str(words.append) ;; str(Point(k).far)
str(math) ;; str(Box(Thing(k))) ;; repr(Box(s)) ;; str(zip(words, words)) ;; str(reversed(words)) ;; str(e for e in words)
str(slice(Thing(k))) ;; str(enumerate(words)) ;; str(memoryview(b'a')) ;; ascii(Thing(k))
sorted({Thing(1): 1, Thing(2): 2}, key=str) ;; min({'ab', 'cd'}, key=len) ;; max(s, key=lambda e: 1)
sorted(table['a'] | s, key=len) ;; dict.fromkeys(set(words)) ;; {**dict.fromkeys(s)} ;; list(dict.fromkeys(words))
itertools.chain(s) ;; list(itertools.chain.from_iterable([s])) ;; list(itertools.islice(s, 1))
next(itertools.islice(s, 1)) ;; functools.reduce(lambda a, b: a + b, s) ;; reduce(operator.add, s) ;; statistics.mode(s)
statistics.mean(set([1.1, 2.2, 3.3])) ;; sum(set([0.1, 0.2, 0.3])) ;; math.fsum({0.1, 0.2}) ;; math.prod({0.1, 0.2, 0.3})
json.dumps(list(s)) ;; heapq.nlargest(1, s, key=len) ;; heapq.merge(s, s) ;; list(heapq.merge(s))
Counter(s).most_common(1) ;; text.join(s) ;; str.join(',', s) ;; list.copy(list(s)) ;; bytes(set(board))
tuple(frozenset(words)) ;; dict(zip(s, words)) ;; dict(enumerate(s)) ;; list(set(words) & s) ;; list(set(words).union(board))
list(map(first, [s])) ;; [first(e) for e in [s]] ;; [list(e) for e in [s]] ;; [list(e)[0] for e in table.values()]
(lambda x: list(x))(s) ;; (lambda x: list(x))(set(words)) ;; list(map(list, [s])) ;; list(map(list, table.values()))
list(map(lambda e: list(e), table.values())) ;; sorted(words, key=lambda e: list(set(e))) ;; list(filter(None, s))
next(e for e in s if e) ;; next((e for e in s), None) ;; list(zip(range(9), s)) ;; list(dict(table)['a'])
list(table.get('a')) ;; list(table.setdefault('a', set())) ;; list(table.popitem()[1]) ;; list(same(s)) ;; first(same(s))
list(copy.copy(s)) ;; list(copy.deepcopy(s)) ;; list(copy.copy(table)['a']) ;; list(Bag(set(words)).items)
[x for b in [Bag(set(words))] for x in b.items] ;; list(getattr(Bag(set(words)), 'items')) ;; getattr(k, '__hash__')()
getattr(time, 'time')() ;; vars(time)['time']() ;; dir(time) ;; sys.maxsize ;; sys.byteorder ;; sys.version ;; os.sep
os.name ;; datetime.datetime.now() ;; datetime.date.today() ;; datetime.datetime.fromtimestamp(k)
datetime.datetime(2020, 1, 1).timestamp() ;; datetime.datetime(2020, 1, 1).astimezone()
datetime.date(2020, 1, 1).strftime('%A') ;; decimal.getcontext().prec
uuid.getnode() ;; hash(Color.RED) ;; types.FunctionType ;; int.from_bytes(b'a', sys.byteorder)
k.to_bytes(2, sys.byteorder) ;; memoryview(b'a').format ;; text.encode('mbcs') ;; unicodedata.unidata_version
str(re.compile('a')) ;; str(re.match('a', text)) ;; locals() ;; globals() ;; __name__ ;; __debug__ ;; breakpoint() ;; help
open ;; exit ;; compile('1', 'a', 'eval') ;; eval('1') ;; exec('1') ;; __import__('time').time() ;; type(k)(time.time())
super ;; isinstance(k, random.choice([int, str])) ;; Thing.__name__ ;; type(Thing(k)).__qualname__ ;; type(k).__name__
map(time.time, words) ;; [*map(clock, words)] ;; list(map(Point.lucky, [Point(1)])) ;; list(map(Point(k).lucky, words))
sorted([Point(1), Point(2)], key=Point.lucky) ;; sorted([Point(1), Point(2)], key=lambda p: p.lucky())
list(map(s.pop, words)) ;; max(words, key=partial(late)) ;; max(words, key=operator.methodcaller('__hash__'))
max(words, key=operator.attrgetter('__hash__')) ;; functools.cmp_to_key(late) ;; filter(late, board)
list(filter(late, board)) ;; sum(map(late, board)) ;; any(late(e) for e in board) ;; any(map(late, board))
reduce(lambda a, b: a + random.random(), board) ;; functools.reduce(random.choice, words) ;; iter(time.time, 3)
iter(input, 'x') ;; next(iter(input, 'x')) ;; list(iter(input, 'x')) ;; itertools.starmap(time.time, [])
list(itertools.starmap(late, [(1,)])) ;; list(itertools.accumulate(board, late)) ;; list(itertools.filterfalse(late, board))
list(itertools.groupby(board, late)) ;; re.sub('a', lambda m: str(time.time()), text) ;; re.sub('a', read, text)
collections.defaultdict(time.time) ;; collections.defaultdict(clock)['a'] ;; dataclasses.field(default_factory=time.time)
types.MethodType(late, k)() ;; operator.itemgetter(0)(words) ;; operator.attrgetter('x')(Point(1))
json.loads(text, object_hook=late) ;; json.dumps(k, default=late) ;; (clock)() ;; (clock if k else clock)() ;; [clock][0]()
{'a': clock}['a']() ;; (f := clock)() ;; [f() for f in [clock]] ;; [f() for f in [time.time]] ;; (lambda f: f())(clock)
(lambda f: f())(time.time) ;; map(lambda f: f(), [clock]) ;; list(map(lambda f: f(k), [hash]))
list(map(lambda f: f(k), [id])) ;; sorted(words, key=[id][0]) ;; sorted(words, key=dict(a=id)['a']) ;; Heir().x
len(Twisted()) ;; len(Assigned()) ;; len(Patched()) ;; Made() ;; Default().x ;; Factory().x ;; With().x ;; Deco().far()
Deco().when ;; Sub().when ;; Sub().far() ;; len(If()) ;; list(gen(k)) ;; strange(set(words)) ;; list(maybe(k)) ;; ALIAS(s)
H(text) ;; list(map(ALIAS, [s])) ;; sorted({1.0, float('nan')}) ;; sorted({frozenset([1])}) ;; max({0.1, 0.2}, key=abs)
str({1}) ;; str(frozenset(words)) ;; f'{set(words)!r}' ;; '%s %s' % (k, s) ;; '%(a)s' % {'a': s} ;; text % s
text.format(k) ;; '{0[a]}'.format({'a': k}) ;; f'{text:{text}}' ;; format(k, text) ;; str(b'a', 'utf-16')
'a'.encode('utf-16') ;; 'a'.encode('utf-32') ;; text.encode(text) ;; bytes('a', 'utf-16') ;; struct.pack(text, k)
struct.calcsize('=l') ;; struct.Struct('l').size ;; repr(Color) ;; str(Color) ;; str(NotImplemented) ;; str(print)
str(len) ;; str([len]) ;; [str(e) for e in [Thing(k)]] ;; {str(e) for e in [Thing(k)]} ;; {str(e): 1 for e in [Thing(k)]}
(lambda t: str(t))(Thing(k)) ;; list(map(lambda t: f'{t}', [Thing(k)])) ;; next(map(str, [Thing(k)]))
[*map(repr, [Thing(k)])] ;; sorted([Thing(k)], key=lambda t: str(t)) ;; max([Thing(k)], default=time.time())
(Thing(k) or 1) and str(Thing(k)) ;; print ;; str(dict(zip(words, [Thing(k)]))) ;; str(list(zip([Thing(k)])))
str([*[Thing(k)]]) ;; str({**{'a': Thing(k)}}) ;; str([Thing(k)] * 2) ;; str([Thing(k)] + [1]) ;; str(([Thing(k)] + [1])[0])
str([1] + [Thing(k)]) ;; str(board + [Thing(k)]) ;; str([k, Thing(k)]) ;; str([k, Thing(k)][1]) ;; str((k, Thing(k))[1])
str((k, Thing(k))[-1]) ;; str((k, Thing(k))[1:]) ;; str({1: k, 2: Thing(k)}) ;; str(k if text else [Thing(k)])
str([e for e in [k, Thing(k)]]) ;; str(list({1: Thing(k)}.values())) ;; str(list({1: Thing(k)}.items()))
str(sorted([Thing(k)])) ;; str(max([Thing(k), Thing(2)])) ;; str(deque([Thing(k)]).pop()) ;; str([Thing(k)].pop())
str([Thing(k)].copy()) ;; str({1: Thing(k)}.get(1)) ;; str(dict.get({1: Thing(k)}, 1))
str(operator.getitem([Thing(k)], 0)) ;; str(copy.copy([Thing(k)])) ;; str(board.copy().append) ;; str((x := Thing(k)))
str(-k or Thing(k)) ;; str(Thing(k).__dict__) ;; str(vars(Thing(k))) ;; str(table['a'] | {'b'}) ;; str(words and s)
str(enumerate) ;; str(Point) ;; str([Point]) ;; str([Point, k]) ;; str({'a': Point}) ;; str(int) ;; str(type(k))
str([int]) ;; str([None, int]) ;; str(x for x in words) ;; str([x for x in words].__iter__()) ;; str(range)
words == s and str(s) ;; list(s if k else words) ;; list(s or words) ;; [*(s or words)] ;; list(words or s)
list((words, s)[1]) ;; list([words, s][1]) ;; [list(e) for e in (words, s)] ;; [list(e) for e in [words, s]]
list({'a': words, 'b': s}['b']) ;; list(dict(a=s)['a']) ;; list(max([s, s])) ;; list(next(iter([s]))) ;; list((x := s))
list(s - set()) ;; list(s ^ set(words)) ;; list(s & s) ;; list(words and s) ;; list({*words}) ;; list({k, text})
list(frozenset({k, text})) ;; list(table.keys() & {'a'}) ;; list(table.keys() | {'b', 'c'}) ;; list(table.items() & {1})
list({}.keys() - s) ;; [*table.keys() & table.keys()] ;; list(Counter(words).keys() | s) ;; tuple({text, 'b'})
','.join({text, 'b'}) ;; ','.join(frozenset(words)) ;; ','.join(e for e in {text, 'b'}) ;; dict.fromkeys({text, 'b'})
list(zip(words, {text, 'b'})) ;; functools.reduce(operator.add, {text, 'b'}) ;; sum({1.5, 2.5, 1e20}) ;; sum({1.5, k})
sum(e for e in {1.5, 2.5}) ;; math.fsum({1.5, 2.5}) ;; statistics.mean({1.5, 2.5}) ;; bytes({1, k}) ;; bytearray({1, k})
text.join({text, 'b'}) ;; [].extend({text}) ;; text.replace('a', str(s)) ;; re.sub('a', str(Thing(k)), text)
re.sub('a', lambda m: str(m), text) ;; json.dumps({'a': str(s)}) ;; textwrap.fill(str(s))
"""
"""Orders, texts, formats, addresses, platforms, and functions behind other names: each party's own."""

DETERMINED = """
str(datetime.timedelta(k)) ;; uuid.uuid5(uuid.NAMESPACE_DNS, text) ;; str(datetime.date(2020, 1, k).isoformat())
str(k) ;; str(Point(k)) ;; f'{Point(k)}' ;; str([Point(k)]) ;; f'{k:>{k}}' ;; f'{k:.2f}' ;; '{} {}'.format(k, text)
str(words) ;; str(table.keys()) ;; str(Color.RED) ;; [Color.RED] ;; str([Color.RED]) ;; str(k / 2) ;; str(k if k else 2)
str(k or 1) ;; str({'a': k}) ;; str((k, text)) ;; str((k, text)[1]) ;; ','.join(map(str, board)) ;; list(map(str, board))
[str(e) for e in board] ;; sorted(board, key=str) ;; sorted(board, key=lambda e: str(e))
sorted(words, key=lambda w: f'{w}') ;; max(board, key=lambda e: -e) ;; list(map(lambda e: e + 1, board))
list(map(int, words)) ;; list(filter(None, board)) ;; list(filter(lambda e: e > 1, board)) ;; reduce(operator.add, board)
reduce(lambda a, b: a + b, board, 0) ;; list(itertools.chain(board, words)) ;; list(itertools.accumulate(board))
dict(zip(words, board)) ;; str(dict(zip(words, board))) ;; [a for a, b in zip(words, board)]
[i for i, w in enumerate(words)] ;; {i: w for i, w in enumerate(words)} ;; sorted(s)[0] ;; str(sorted(s))
','.join(sorted(s)) ;; list(range(k)) ;; [e for e in range(k)] ;; [Point(e) for e in board] ;; str([Point(e) for e in board])
sorted([Point(1), Point(2)], key=lambda p: p.x) ;; sorted([Point(1), Point(2)], key=operator.attrgetter('x'))
sum(p.x for p in [Point(1)]) ;; math.floor(k / 2) ;; str(math.sqrt(k)) ;; struct.pack('<l', k)
struct.unpack('>l', b'1234') ;; text.encode() ;; text.encode('utf-8') ;; str(b'a', 'utf-8') ;; json.dumps({'a': k})
copy.copy(board) ;; str(copy.copy(board)) ;; list(copy.deepcopy(words)) ;; isinstance(k, int) ;; isinstance(k, (int, str))
type(k) == int ;; Counter(words).most_common(1) ;; [w for w, n in Counter(words).most_common(2)] ;; list(reversed(words))
words[::-1] ;; [*words, *board] ;; text.split()[0] ;; [w for w in text.split()] ;; ','.join(text.split()) ;; min(k, 2)
max(board) ;; max(table) ;; sorted(table.items()) ;; [(a, sorted(b)) for a, b in table.items()] ;; str(k).zfill(3)
'%d' % k ;; '%s-%s' % (text, k) ;; f'{text!r}' ;; round(k / 3, 2) ;; dict(a=k)['a'] ;; collections.OrderedDict(a=1)
NAMES[0] ;; [n for n in NAMES] ;; str(NAMES) ;; f'{LIMIT}' ;; list(Color) ;; [c.value for c in Color]
any(w.startswith('a') for w in words) ;; re.sub('a', 'b', text) ;; re.sub('a', text, text) ;; re.findall('a', text)
bisect.bisect(board, k) ;; heapq.nlargest(2, board, key=lambda e: -e) ;; (Point(k) == Point(2)) ;; list(range(len(s)))
dict(table)['a'] ;; callable(k) ;; Color.RED ;; json.dumps(sorted(s)) ;; str(Thing(k).n) ;; decimal.Decimal(1) / 3
text.isidentifier() ;; string.ascii_letters ;; bytes(k) ;; list(map(operator.attrgetter('n'), [Thing(k)]))
uuid.UUID(int=1) ;; any(e == 'a' for e in s) ;; k.real ;; list(itertools.chain([s])) ;; list({e: 1 for e in sorted(s)})
"""
"""What looks like those, and is the same at each party."""


def forms(table: str) -> list[str]:
    """The expressions of a table."""
    return [each for line in table.strip().splitlines() for each in line.split(" ;; ")]
