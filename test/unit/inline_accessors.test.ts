/**
 * Promise: writing the accessors of rows into the code of a bundle changes nothing but time: any program does what it did,
 * in the same order, and where it could do something else the call stays a call.
 */
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { inlineAccessors } from '../../core/lib/inline_accessors.mjs'
import { createPrng } from '../../core/lib/prng.ts'

/** A chunk whose first region has accessors as those of rows are. */
const chunk = (code: string, more = ''): string => `
//#region rows
const MASK = 1023;
const WIDE = { I: 2, J: 5, M: -1 };
const defineLayout = (name) => ({ name, at: { first: 1, last: 6 }, words: 7 });
const ROW = defineLayout("row");
const OTHER = defineLayout("other");
const R = ROW.at;
const { at: also } = ROW;
const { last: LAST } = ROW.at;
const { J: FIFTH, M } = WIDE;
const twice = (x) => x + x;
const get = (state, row, field) => state.words[(row & MASK) + field];
const rowOf = (state, slot) => (state.at + slot * 4) & MASK;
function set(state, row, field, value) {
  state.words[(row & MASK) + field] = value;
}
function add(state, row, field, change) {
  const { words } = state;
  const at = (row & MASK) + field;
  words[at] = words[at] + change;
}
function many(state, row) {
  for (let i = 0; i < row; i++) state.words[i] = 0;
}
${more}
//#endregion
const state = { words: Array.from({ length: 64 }, (_, i) => i * 3), at: 8 };
const said = [];
const say = (value) => { said.push(value); return value; };
${code}
`

function written(code: string, more = ''): string {
  const before = chunk(code, more)
  let after = ''
  let at = 0
  for (const { start, end, text } of inlineAccessors(before, ['rows'], [{ name: 'row', module: 'rows', at: { first: 1, last: 6 } }])) {
    after += before.slice(at, start) + text
    at = end
  }
  return after + before.slice(at)
}

/** What the program says, and the memory it leaves. */
const run = (code: string): unknown =>
  JSON.parse(runInNewContext(`${code}\nJSON.stringify([said, state.words])`) as string)

/** Of the part of the chunk behind the accessors. */
const rest = (code: string): string => code.slice(code.indexOf('const said'))

function same(t: Test, name: string, code: string, gone: boolean): void {
  const after = written(code)
  t.same(run(after), run(chunk(code)), `${name}: does what it did`)
  const called = /\b(get|set|add|rowOf)\(/.test(rest(after))
  t.equal(called, !gone, `${name}: ${gone ? 'no call is left' : 'the call stays'}`, { after: rest(after) })
}

t.test('calls are written in', async (t) => {
  same(t, 'a field', 'say(get(state, 8, WIDE.I))', true)
  same(t, 'a row in a field', 'say(get(state, rowOf(state, 2), WIDE.J))', true)
  same(t, 'a statement', 'set(state, rowOf(state, 1), WIDE.I, get(state, 4, 1) + 7)', true)
  same(t, 'several words', 'add(state, 8, WIDE.J, get(state, 8, WIDE.J) + 1)\nadd(state, 8, WIDE.J, 1)', true)
  same(t, 'a statement without braces', 'if (get(state, 4, 0) > 3) set(state, 4, 0, 1)\nelse add(state, 4, 0, 5)', true)
  const called = 'function f(state, slot) { add(state, rowOf(state, slot), 1, -slot) ; return get(state, 4, 1) }'
  same(t, 'in a function', `${called}\nsay(f(state, 1))`, true)
  same(t, 'a shorthand',
    'const WORDS = ((row) => { const x = { row }; return get(state, x.row, 0) })(4)\nsay(WORDS)', true)
  const readers = 'const far = (s, row) => Math.imul(row, 4) + s.at;\n' +
    'const part = (s$1, row) => s$1.words.slice(row).subarray(row, row + 2);'
  t.notMatch(rest(written('say(far(state, 2))', readers)), /far/, 'what asks Math')
  t.notMatch(rest(written('say(part(state, 2))', readers.replace('.slice(row)', ''))), /part/, 'a part of an array')
  t.match(rest(written('say(part(state, 2))', readers)), /part/, 'but not of what a call gives back')
})

t.test('a call stays where writing it in might do something else', async (t) => {
  same(t, 'the accessor is another one here', 'function f(get) { return get(state, 4, 1) }\nsay(f(() => 5))', false)
  same(t, 'what it names is another one here', 'function f(MASK) { return get(state, MASK, 1) }\nsay(f(4))', false)
  same(t, 'also by a pattern', 'function f({ a: [MASK = 4] }) { return get(state, MASK, 1) }\nsay(f({ a: [] }))', false)
  same(t, 'an argument has an effect', 'say(get(state, say(4), 1))', false)
  same(t, 'a statement is asked for its value', 'say(set(state, 4, 1, 2) === undefined)', false)
  same(t, 'too few arguments', 'say(get(state, 4) === undefined)', false)
})

t.test('effects of arguments keep their order', async (t) => {
  same(t, 'in a block of their own',
    'let i = 4\nset(state, say(i++), say(i) - 4, say(i + i))\nadd(state, say(i), 0, say(2))', true)
  const after = written('many(state, 3)')
  t.match(rest(after), /many\(state, 3\)/, 'what loops is not written in')
})

t.test('numbers of tables', async (t) => {
  t.notMatch(rest(written('say(WIDE.I + WIDE.M)\nset(state, 1, 1, 1)')), /WIDE/, 'are written in')
  t.match(rest(written('WIDE.I = 3\nsay(WIDE.I)\nset(state, 1, 1, 1)')), /say\(WIDE\.I\)/,
    'unless somebody assigns to it')
  t.match(rest(written('WIDE.I++\nsay(WIDE.I)\nset(state, 1, 1, 1)')), /say\(WIDE\.I\)/, 'or counts on it')
  t.match(rest(written('function f(WIDE) { return WIDE.I }\nset(state, 1, 1, 1)')), /return WIDE\.I/,
    'or the name is another one here')
  for (const use of [
    'Object.freeze(WIDE)', 'say(Object.keys(WIDE))', 'say(Object.values(WIDE))', 'say(Object.entries(WIDE))',
    'say(Object.hasOwn(WIDE, "I"))', 'say({ ...WIDE })', 'say(WIDE["I" + ""])', 'const { I } = WIDE\nsay(I)',
    'function f() { const { I } = WIDE; return I }\nsay(f())',
    'const ALSO = WIDE\nsay(ALSO.J)',
  ]) {
    const code = `${use}\nsay(WIDE.M)\nset(state, 1, 1, 1)`
    const after = written(code)
    t.match(rest(after), /say\(\(-1\)\)/, `who only looks changes nothing: ${use}`)
    t.same(run(after), run(chunk(code)), 'and sees what it saw')
  }
})

t.test('fields of layouts, and constants', async (t) => {
  const code = 'const x = 4\nsay(ROW.at.last + R.first + also.last)\nsay(LAST + FIFTH - M)\nset(state, x & MASK, ROW.at.first, LAST)'
  same(t, 'each of them', code, true)
  t.notMatch(rest(written(code)), /ROW|\bR\b|also|LAST|FIFTH|\bM\b|MASK/, 'are written in')
  t.match(rest(written('say(OTHER.at.last + ROW.words)')), /OTHER\.at\.last \+ ROW\.words/, 'a layout that is not known stays')
  t.match(rest(written('function f(LAST, R) { return LAST + R.first }')), /LAST \+ R\.first/, 'so does another of the name')
  same(t, 'the name of a property is none', 'say({ LAST, M: 1 }.LAST + { FIFTH: 2 }.FIFTH)\nset(state, 1, 1, 1)', true)
  same(t, 'nor is what is counted', 'let i = LAST\ni += FIFTH\nfor (const M of [3]) say(M + i)\nset(state, i & 7, 1, 1)', true)
})

/** Programs that come near to what is written in: their name, the program, and a function beside the accessors. */
const NEAR: readonly [name: string, code: string, more?: string][] = [
  ['a table of another one', 'const FEW = { I: 9 };\nconst T = { I: 1, ...FEW };\nsay(T.I)'],
  ['a table by another name', 'const T = WIDE;\nT.I = 7;\nsay(WIDE.I + T.I)'],
  ['a table that is assigned to as a whole', 'Object.assign(WIDE, { I: 7 });\nsay(WIDE.I)'],
  ['by a pattern', '[WIDE.I] = [7];\n({ x: WIDE.J = 3 } = {});\nsay(WIDE.I + WIDE.J)'],
  ['by a loop', 'for (WIDE.I of [7]);\nsay(WIDE.I)'],
  ['a field that is taken away', 'delete WIDE.I;\nsay(String(WIDE.I))'],
  ['keys that are worked out, twice there or read', "const K = 'I';\nconst T = { I: 1, [K]: 4 };\nconst U = { I: 1, 'I': 4 };\n" +
    'const V = { I: 1, get I() { return 5 } };\nsay(T.I + U.I + V.I)'],
  ['the name of a function', 'const LIM = 5;\nconst f = function LIM() { const x = LIM; return typeof x };\nsay(f())'],
  ['the name of a class', 'const LIM = 5;\nconst F = class LIM { static g() { const x = LIM; return typeof x } };\nsay(F.g())'],
  ['a name in a class', 'const LIM = 5;\nclass K { static { const LIM = 8; const x = LIM; say(x) } }'],
  ['a name of a block, a branch, a catch', 'const LIM = 5;\nfunction f() { { const LIM = 9; say(LIM) } const q = LIM; say(q) } f()\n' +
    'switch (3) { default: const LIM = 8; const x = LIM; say(x) }\ntry { throw 3 } catch (LIM) { const x = LIM; say(x) }'],
  ['fields and methods of a name', 'const LIM = 5;\nclass A { LIM = 7; x = LIM; y() { const t = this.LIM; return t } }\n' +
    'say(new A().y() + new A().x);\nconst o = { m(LIM) { const x = LIM; say(x) } };\no.m(1)'],
  ['a method of a number', 'say(WIDE.I.toString(2) + WIDE.M.toFixed(1))'],
  ['minus nothing', 'const Z = { N: -0 };\nsay(String(1 / Z.N))'],
  ['a parameter of the name of a table', 'say(pick({ I: 100 }, 1))', 'const pick = (WIDE, x) => WIDE.I + x;'],
  ['two stores', 'move(state, 4, get(state, 4, 0) + 5)',
    'function move(s, row, value) {\n  set(s, row, 0, 0);\n  set(s, row, 1, value);\n}'],
  ['a store and one by call', 'both(state, 4, get(state, 4, 0))',
    'function both(s, row, value) {\n  set(s, row, 0, 1);\n  s.words[row] = value;\n}'],
  ['a value that stores', 'say(zero(state, put(state, 77)));\nsay(state.words[3])',
    'const put = (s, v) => (s.words[3] = v);\nconst zero = (s, unused) => s.words[3];'],
  ['a parameter that is assigned to', 'let r = 12; norm(state, r); say(r)',
    'function norm(s, row) {\n  row = row & 7;\n  s.words[row] = 1;\n}'],
  ['texts and comments of several lines',
    'set(state, 4, 0, say(`a\n  b`).length)\nset(state, 4, 1, say(\n  // five\n  5))\nquick(state, 3)',
    'function quick(s, v) {\n  // three\n  s.words[1] = v;\n}'],
  ['statements without an end', 'let z = 1\nset(state, 4, 0, 1)\n;[z] = [4]\nsay(z)\ndo set(state, z, 0, z); while (++z < 9)'],
  ['whole numbers without end and texts with a sign', 'const T = { A: -1n, B: -"5" };\nsay(typeof T.A + T.B)'],
  ['a table that is written to before it is taken apart',
    'const T = { A: 1 };\nT.A = 2;\nconst { A } = T;\nsay(A + 0)'],
  ['the same by another name',
    'const T = { A: 1 };\nconst U = T;\nU.A = 2;\nconst { A } = T;\nconst { A: B } = U;\nsay(A + B)'],
  ['a table in a field of another', 'const T = { A: 1 };\nconst U = { t: T };\nU.t.A = 2;\nsay(T.A)'],
  ['in a list, and by spreading that',
    'const T = { A: 1 };\nconst U = [T];\nfor (const each of [...U]) each.A = 2;\nsay(T.A)'],
  ['as a list', 'Object.prototype[Symbol.iterator] = function* () { yield this; };\nconst T = { A: 1 };\n' +
    '((t) => { t.A = 2; })(...T);\nsay(T.A)'],
  ['a table by a parameter', 'const T = { A: 1 };\nfunction w(t) { t.A = 2; }\nw(T);\nsay(T.A)'],
  ['by a name of a function', 'const T = { A: 1 };\nfunction w() { const t = T; t.A = 2; }\nw();\nsay(T.A)'],
  ['by a name that may change', 'const T = { A: 1 };\nlet u = T;\nu.A = 2;\nsay(T.A)'],
  ['by what a function gives back', 'const T = { A: 1 };\nconst table = () => T;\ntable().A = 2;\nsay(T.A)'],
  ['by this', 'const T = { A: 1, grow() { this.A = 2; } };\nT.grow();\nsay(T.A)'],
  ['by this of a key that is worked out', 'const T = { A: 1, grow() { this.A = 2; } };\nT["gr" + "ow"]();\nsay(T.A)'],
  ['by Reflect', 'const T = { A: 1 };\nReflect.set(T, "A", 2);\nsay(T.A)'],
  ['by what a function of Object gives back', 'const T = { A: 1 };\nObject.seal(T).A = 2;\nsay(T.A)'],
  ['by what is called like a function of Object',
    'const T = { A: 1 };\nconst o = { keys(t) { t.A = 2; } };\no.keys(T);\nsay(T.A)'],
  ['by a function of Object that is worked out',
    'const T = { A: 1 };\nconst keys = "assign";\nObject[keys](T, { A: 2 });\nsay(T.A)'],
  ['by an assignment that is a value', 'const T = { A: 1 };\nlet A, u;\nu = ({ A } = T);\nu.A = 2;\nsay(T.A)'],
  ['a key that is worked out', 'const T = { A: 1 };\nT["A" + ""] = 2;\nsay(T.A)'],
  ['in brackets', 'const T = { A: 1 };\n(T.A) = 2;\nconst U = { A: 1 };\n(U).A = 2;\nsay(T.A + U.A)'],
  ['where there is one',
    'const T = { A: 1, grow() { this.A = 2; } };\n(T?.grow)();\nconst U = { A: 1 };\ndelete U?.A;\n' +
    'say(T.A + String(U.A))'],
  ['by a text that is called', 'const T = { A: 1, grow() { this.A = 2; } };\nT.grow`x`;\nsay(T.A)'],
  ['taken away by an arrow', 'const T = { A: 1 };\ndelete (() => 1);\nsay(T.A)'],
  ['a store by an arrow, and one', 'both(state, 4, get(state, 4, 0))',
    'const put = (s, at, v) => { s.words[at] = v; };\nfunction both(s, row, value) {\n  put(s, row, 9);\n' +
    '  s.words[row + 1] = value;\n}'],
  ['a store by a function of elsewhere, and one',
    'function wipe(s, at) { s.words[at] = 9 }\nboth(state, 4, get(state, 4, 0))',
    'function both(s, row, value) {\n  wipe(s, row);\n  s.words[row + 1] = value;\n}'],
  ['a store by a method, and one', 'both(state, 4, get(state, 4, 0))',
    'function both(s, row, value) {\n  s.words.fill(9);\n  s.words[row + 1] = value;\n}'],
  ['a call that stores before a value is read', 'say(late(state, get(state, 4, 0)))',
    'const late = (s, value) => s.words.fill(9).length + value;'],
  ['a call by a name that is another one within',
    'const fill = (s) => s.words.fill(9).length;\nboth(fill, state, 4, get(state, 4, 0))',
    'const none = (s) => 0;\nfunction both(none, s, row, value) {\n  s.words[row + none(s)] = value;\n}'],
  ['a parameter that alone is assigned to', 'let r = 12; norm(r); say(r)', 'function norm(row) {\n  row = 7;\n}'],
  ['several stores by a pattern', 'const o = { a: 5, b: 9 };\nboth(state, o, get(state, 4, 0))',
    'function both(s, o, v) {\n  ({ a: s.words[4], b: s.words[v & 63] } = o);\n}'],
  ['a value that takes a field away',
    'say(pick(delete state.at, 4));\nsay(String(state.at))', 'const pick = (unused, x) => x;'],
  ['a function that takes fields away', 'state.gone = 4;\nsay(pick(drop(state), 4));\nsay(String(state.gone))',
    'const drop = (s) => delete s.gone;\nconst pick = (unused, x) => x;'],
  ['several values in brackets', 'let y = 3;\nset(state, 4, 0, (say(1), y));\nset(state, 4, 1, (y++, y))'],
  ['several values of one list', 'set(state, 4, ...[0, 9]);\nsay(get(...[state, 4, 0]))'],
  ['a list where a value is expected',
    'const more = [state, 4];\nput(...more, 9)', 'function put(s, at, v) {\n  s.words[at] = v;\n}'],
  ['a spread that comes to as many', 'put(state, 4, ...[9])', 'function put(s, at, v) {\n  s.words[at] = v;\n}'],
  ['functions whose lines end without a sign',
    'set(state, 4, 0, (() => {\n  let a = 1\n  let b = 2\n  return a + b\n})());\n' +
    'set(state, 4, 1, (() => {\n  if (state.at > 3) return\n  say(4)\n})() ?? 3)\n' +
    'set(state, 4, 2, new (class {\n  a = 1\n  b = 2\n})().b)'],
  ['texts over two lines',
    'set(state, 4, 0, say("a\\\n  b").length)\nsay(text(state))', 'const text = (s) => "a\\\n  b";'],
  ['accessors whose lines end without a sign',
    'put(state, 4, 9)', 'function put(s, at, v) {\n  const { words } = s\n  words[at] = v\n}'],
  ['accessors that give back promises and loops', 'say(String(soon(state)));\neach(state);\nsay(state.words[4])',
    'const soon = async (s) => s.at;\nfunction* each(s) {\n  s.words[4] = 9;\n}'],
]

t.test('what comes near does what it did', async (t) => {
  for (const [name, code, more] of NEAR) {
    const after = written(code, more)
    t.same(run(after), run(chunk(code, more)), name, { after: rest(after) })
  }
  const elsewhere = '//#region other\nconst FIELDS = defineLayout("field");\nsay(FIELDS.at.last)\n//#endregion\n'
  const edits = inlineAccessors(chunk(elsewhere), ['rows'], [{ name: 'field', module: 'rows', at: { first: 8, last: 9 } }])
  t.notOk(edits.some(({ text }) => text === '9'), 'a layout of the name, of another module')
})

t.test('a region without accessors is an error', async (t) => {
  t.throws(() => inlineAccessors('//#region rows\nconst a = 1\n//#endregion\n', ['rows']), /no accessor is found in rows/)
  t.same(inlineAccessors('const a = 1\n', ['rows']), [], 'one without them is not')
  t.throws(() => inlineAccessors(chunk('const $1 = 2'), ['rows']), /names like \$1/)
  t.throws(() => inlineAccessors(chunk('const AGAIN = defineLayout("row")'), ['rows']), /two layouts are named row/)
})

const SEED = Number(process.env.SEED ?? Math.trunc(Math.random() * 1e6))
t.test('random programs do what they did', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} node test/unit/inline_accessors.test.ts`)
  const random = createPrng(SEED)
  const among = <T>(all: readonly T[]): T => all[random.below(all.length)]!
  const value = (depth: number): string => {
    const leaf = depth <= 0 || random.below(3) === 0
    if (leaf) return among(['0', '1', '3', 'x', 'y', 'WIDE.I', 'WIDE.M', 'R.last', 'LAST', 'say(x)', 'x++'])
    const [a, b] = [value(depth - 1), value(depth - 1)]
    return among([
      `(${a} + ${b})`, `get(state, ${a} & 31, WIDE.J)`, `(${a} & 15)`,
      `rowOf(state, ${a} & 7)`, `(${a} > ${b} ? ${b} : ${a})`,
      `get(state, rowOf(state, ${a} & 3), ${b} & 7)`, `say(${a})`,
    ])
  }
  const statement = (depth: number): string => among([
    () => `set(state, ${value(2)} & 31, WIDE.I, ${value(2)})`,
    () => `add(state, rowOf(state, ${value(1)} & 3), WIDE.J, ${value(2)})`,
    () => `add(state, ${value(0)}, WIDE.J, ${value(2)})`,
    () => `x = ${value(3)} & 63`,
    () => depth <= 0
      ? `say(${value(3)})`
      : `if (${value(2)} > ${value(1)}) { ${statement(depth - 1)} } else add(state, 4, 1, ${value(1)})`,
    () => depth <= 0 ? 'y = x' : `for (let MASK = 0; MASK < 2; MASK++) { ${statement(depth - 1)} }`,
    () => depth <= 0
      ? 'x = y'
      : `((${among(['x', 'y', 'MASK', 'get', 'z'])}) => { ${statement(depth - 1)} })(${value(1)})`,
  ])()
  const callsIn = (code: string): number => [...code.matchAll(/\b(get|set|add|rowOf)\(state/g)].length
  let [calls, left] = [0, 0]
  for (let round = 0; round < 300; round++) {
    const lines = Array.from({ length: 5 }, () => `try { ${statement(2)} } catch (error) { say('threw') }`).join('\n')
    const code = `(function (x, y) {\n${lines}\nsay(x)\n})(2, 5)\nset(state, 0, 0, get(state, 0, 0))`
    const after = written(code)
    calls += callsIn(code)
    left += callsIn(rest(after))
    const [seen, expected] = [JSON.stringify(run(after)), JSON.stringify(run(chunk(code)))]
    if (seen !== expected) return t.fail(`round ${round}: another program`, { code, after, seen, expected })
  }
  t.ok(left < calls * 0.7, `of ${calls} calls ${left} are left`)
})
