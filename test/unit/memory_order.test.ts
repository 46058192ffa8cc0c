/**
 * Promise: what threads read of each other through shared memory is whole on every processor that keeps to the memory model of the
 * language, not on x86 alone. The accesses are those of the program itself, recorded while it runs; then every outcome that the model
 * allows (support/memory_model.ts) is tried. Without any one of the operations that order them some outcome is bad, which is tried too.
 */
import t from 'tap'
import type { Test } from 'tap'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { createAccount } from '../../core/programs/accounts.ts'
import { writeSession } from '../../core/programs/sessions.ts'
import { CommandType } from '../../core/layout/command.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { broadcast, createBroadcast, createReader, read as readBroadcast } from '../../core/ring/broadcast.ts'
import {
  AnswerCode, attachQuestions, beginAnswer, createQuestions, publishAnswer, putQuestion, QUESTION_WORDS, takeAnswer, takeQuestion,
} from '../../core/ring/questions.ts'
import { attachRing, available, consume, createRing, front, publish, reserve } from '../../core/ring/spsc.ts'
import { readAccount, readSessionRow } from '../../core/view/accounts.ts'
import { consistently } from '../../core/view/consistent.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { postCommand, startMatcher } from '../support/journal.ts'
import { change, everyOutcome, load, read, recordAtomics, store, write, type Access, type Outcome } from '../support/memory_model.ts'

/** Words of a cell of questions (core/ring/questions.ts). */
const [ASKED, BEGUN] = [16, 32]

/** How many outcomes there are, and the first that is bad. */
function tried(threads: Access[][], isGood: (outcome: Outcome) => boolean): { outcomes: number; bad: Outcome | null } {
  let [outcomes, bad]: [number, Outcome | null] = [0, null]
  everyOutcome(threads, (outcome) => {
    outcomes++
    if (bad === null && !isGood(outcome)) bad = structuredClone(outcome) as Outcome
  })
  return { outcomes, bad }
}

/** All is well as it is; with access `index` of thread `thread` weakened, something is not. */
function proves(
  t: Test, threads: Access[][], isGood: (outcome: Outcome) => boolean, fences: [thread: number, index: number, weak: Access][],
): void {
  const { outcomes, bad } = tried(threads, isGood)
  t.equal(bad, null, `${outcomes} outcomes`)
  for (const [thread, index, weak] of fences) {
    const weaker = threads.map((accesses, of) => accesses.map((access, at) => (of === thread && at === index ? weak : access)))
    const { kind, place } = threads[thread]![index]!
    t.not(tried(weaker, isGood).bad, null, `${kind} ${place} of thread ${thread} is needed`)
  }
}

const kinds = (accesses: Access[]): string => accesses.map(({ kind, place }) => `${kind} ${place}`).join(', ')
const increment = (before: number): number => before + 1
const same = (before: number): number => before

t.test('the model itself', async (t) => {
  const seen = (threads: Access[][]): string[] => {
    const all = new Set<string>()
    everyOutcome(threads, (outcome) => all.add(JSON.stringify(outcome)))
    return [...all].sort()
  }
  const any = ['[[],[0,0]]', '[[],[0,1]]', '[[],[1,0]]', '[[],[1,1]]']
  t.same(seen([[write('a', 1), write('b', 1)], [read('b'), read('a')]]), any, 'plain: any order')
  t.same(seen([[write('a', 1), store('b', 1)], [load('b'), read('a')]]), ['[[],[0,0]]', '[[],[0,1]]', '[[],[1,1]]'], 'published')
  const either = ['[[0],[1]]', '[[1],[0]]', '[[1],[1]]']
  t.same(seen([[store('a', 1), load('b')], [store('b', 1), load('a')]]), either, 'one of two sees the other')
  t.same(seen([[read('a'), load('b')], [store('b', 1), write('a', 1)]]).includes('[[1,0],[]]'), true, 'a load holds nothing back')
  t.same(seen([[read('a'), change('b', same)], [change('b', increment), write('a', 1)]]).includes('[[1,0],[0]]'), false, 'two changes do')
})

t.test('a copy of the columns, under the gate', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const matcher = startMatcher(dataDir)
  const { gate, state } = matcher.sequencer
  const words = new Int32Array(new SharedArrayBuffer(4))
  const writer: Access[] = []
  let sequence = state.clock[CLOCK.SEQUENCE]!
  let batch = 0
  // The first of the two batches changes the thing and its version in three places, the second one something else.
  const applied = (): void => {
    if (state.clock[CLOCK.SEQUENCE] === sequence) return
    sequence = state.clock[CLOCK.SEQUENCE]!
    batch++
    if (batch === 1) writer.push(write('x', 1), write('version', 1), write('y', 1))
    else writer.push(write('z', 1))
  }
  const note = (kind: 'load' | 'store' | 'change', array: object, at: number): void => {
    applied()
    if (array === gate && at === 0 && kind !== 'load') writer.push(kind === 'change' ? change('gate', increment) : store('gate', NaN))
  }
  for (let turns = 0; turns < 2; turns++) {
    postCommand(matcher, 1, CommandType.MINT, { session: -1, asset: 0 })
    recordAtomics(() => matcher.turn(), note)
    applied()
  }
  const shape = 'change gate, write x, write version, write y, change gate, change gate, write z, change gate'
  t.equal(kinds(writer), shape, 'both batches stand between two changes of the gate')
  const reader: Access[] = []
  recordAtomics(
    () => consistently(gate, words, 0, () => reader.push(read('x'), read('y'))),
    (kind, array) => reader.push(array === gate ? (kind === 'change' ? change('gate', same) : load('gate')) : load('version')),
  )
  t.equal(kinds(reader), 'load version, change gate, read x, read y, change gate, load version')
  const isGood = ([, [before, first, x, y, second, after]]: number[][]): boolean =>
    first! % 2 !== 0 || second! % 2 !== 0 || before !== after || x === y
  proves(t, [writer, reader], isGood as (outcome: Outcome) => boolean, [
    [0, 0, store('gate', 1)], [1, 1, load('gate')], [1, 4, load('gate')],
  ])
  const late = [reader[1]!, reader[0]!, ...reader.slice(2)]
  const isGoodLate = ([w, [first, before, ...rest]]: number[][]): boolean => isGood([w!, [before!, first!, ...rest]])
  t.not(tried([writer, late], isGoodLate as (outcome: Outcome) => boolean).bad, null, 'the version of a batch under way may not be read')
})

t.test('a reader of the event ring', async (t) => {
  const ring = createBroadcast(2)
  const writer: Access[] = []
  let record = 0
  const spied = { ...ring, words: { set: () => writer.push(write(`slot ${(record++) % 2}`, record)) } as unknown as Int32Array }
  // Three records: the last overwrites the first.
  recordAtomics(() => [1, 2, 3].forEach(() => broadcast(spied, new Int32Array(RECORD_WORDS), 1)), (kind, _, at, value) => {
    const place = at === 0 ? 'written' : 'claimed'
    writer.push(kind === 'change' ? change(place, () => Number(value)) : store(place, Number(value)))
  })
  const each = (slot: number): string => `change claimed, write slot ${slot}, store written`
  t.equal(kinds(writer), [each(0), each(1), each(0)].join(', '))
  const full = createBroadcast(2)
  broadcast(full, new Int32Array(RECORD_WORDS), 1)
  const reader: Access[] = []
  const copy = { length: 256 * RECORD_WORDS, set: () => reader.push(read('slot 0')) } as unknown as Int32Array
  recordAtomics(() => readBroadcast({ ...createReader(full, 256, 0), copy }), (kind, _, at) => {
    reader.push(kind === 'change' ? change('claimed', same) : load(at === 0 ? 'written' : 'claimed'))
  })
  t.equal(kinds(reader), 'load written, read slot 0, change claimed')
  const isGood = (outcome: Outcome): boolean => {
    const [written, copied, claimed] = outcome[1] as [number, number, number]
    return written < 1 || written > 2 || claimed - 2 > 0 || copied === 1
  }
  proves(t, [writer, reader], isGood, [
    [0, 2, write('written', 1)], [0, 6, store('claimed', 3)], [1, 2, load('claimed')],
  ])
})

t.test('a question to the matcher', async (t) => {
  const cell = attachQuestions(createQuestions())
  const places = new Map([[ASKED, 'asked'], [BEGUN, 'begun'], [BEGUN + 1, 'answered']])
  const note = (into: Access[]) => (kind: string, _: object, at: number, value: number | bigint | undefined): void => {
    const place = places.get(at)!
    if (kind === 'load') into.push(load(place))
    else if (kind === 'store') into.push(store(place, Number(value)))
    else into.push(change(place, place === 'begun' && value !== 0 ? () => Number(value) : (before) => before + Number(value)))
  }
  // One that asks twice without waiting, which no asker does: even then the first question is not taken for the second.
  const asker: Access[] = []
  const spiedWriting = { ...cell, question: new Proxy(cell.question, { set: (words, at, value) => {
    if (at === '0') asker.push(write('question', Number(value)))
    return Reflect.set(words, at, value, words)
  } }) }
  for (const kind of [1, 2]) recordAtomics(() => void putQuestion(spiedWriting, [kind]), note(asker))
  const once = 'change asked, write question, change asked'
  t.equal(kinds(asker), `${once}, ${once}`)
  const taker: Access[] = []
  const spiedReading = { ...cell, question: new Proxy(cell.question, { get: (words, at) => {
    if (at === '0') taker.push(read('question'))
    return Reflect.get(words, at, words) as unknown
  } }) }
  recordAtomics(() => void takeQuestion(spiedReading, new Int32Array(QUESTION_WORDS)), note(taker))
  t.equal(kinds(taker), 'load asked, read question, change asked')
  const isTaken = (outcome: Outcome): boolean => {
    const [first, question, second] = outcome[1] as [number, number, number]
    return first % 2 !== 0 || first === 0 || first !== second || question === first / 2
  }
  proves(t, [asker, taker], isTaken, [[0, 2, write('asked', 2)], [0, 3, store('asked', 3)], [1, 2, load('asked')]])
  // And of a matcher that answers twice no asker takes the second answer for the first.
  const [matcher, reader]: [Access[], Access[]] = [[], []]
  for (const number of [2, 4]) {
    recordAtomics(() => beginAnswer(cell, number, new Int32Array(QUESTION_WORDS)), note(matcher))
    matcher.push(write('answer', number))
    recordAtomics(() => publishAnswer(cell, number, AnswerCode.GOOD), note(matcher))
  }
  const answered = 'change begun, write answer, store answered'
  t.equal(kinds(matcher), `${answered}, ${answered}`)
  recordAtomics(() => void takeAnswer(cell, 4, [], () => reader.push(read('answer'))), note(reader))
  t.equal(kinds(reader), 'load answered, read answer, change begun')
  const isWhole = (outcome: Outcome): boolean => {
    const [number, answer, begun] = outcome[1] as [number, number, number]
    return number === 0 || begun !== number || answer === number
  }
  proves(t, [matcher, reader], isWhole, [[0, 2, write('answered', 2)], [0, 3, store('begun', 4)], [1, 2, load('begun')]])
})

t.test('a ring between two threads', async (t) => {
  const ring = createRing(2)
  const note = (into: Access[]) => (kind: string, _: object, at: number, value: number | bigint | undefined): void =>
    void into.push(kind === 'store' ? store(at === 0 ? 'head' : 'tail', Number(value)) : load(at === 0 ? 'head' : 'tail'))
  const [producer, consumer]: [Access[], Access[]] = [[], []]
  const theirs = attachRing(ring.buffer)
  recordAtomics(() => {
    for (let record = 1; record <= 2; record++) {
      producer.push(write(`slot ${reserve(ring, 0) / RECORD_WORDS}`, record))
      publish(ring, 1)
    }
  }, note(producer))
  recordAtomics(() => {
    t.equal(available(theirs), 2)
    consumer.push(read(`slot ${front(theirs, 0) / RECORD_WORDS}`))
    consume(theirs, 1)
  }, note(consumer))
  recordAtomics(() => void producer.push(write(`slot ${reserve(ring, 0) / RECORD_WORDS}`, 3)), note(producer))
  t.equal(kinds(producer), 'write slot 0, store tail, write slot 1, store tail, load head, write slot 0')
  t.equal(kinds(consumer), 'load tail, read slot 0, store head')
  // The third record is written only when the head was seen to have moved.
  const isGood = (outcome: Outcome): boolean => {
    const [[head], [tail, record]] = outcome as [[number], [number, number]]
    return tail < 1 || head < 1 || record === 1
  }
  proves(t, [producer, consumer], isGood, [
    [0, 1, write('tail', 1)], [1, 2, write('head', 1)],
  ])
})

t.test('rows that are read without the gate: every word is an atomic one', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const { state } = startMatcher(dataDir).sequencer
  const wordsOf = (run: () => void, column: number, row: number): { word: number; stores: boolean }[] => {
    const found: { word: number; stores: boolean }[] = []
    recordAtomics(run, (kind, array, at) => {
      const { BYTES_PER_ELEMENT, byteOffset } = array as Int32Array
      const word = (byteOffset + at * BYTES_PER_ELEMENT) / 4 - column - row
      if (word >= 0 && word < 32) found.push({ word, stores: kind !== 'load' })
    })
    return found
  }
  const words = new Int32Array(8).fill(7)
  const account = createAccount(state, 0, words, 0)
  const wrote = wordsOf(() => writeSession(state, 0, account, -1, 0, words, 0), state.sessionsAt, 0)
  const looked = wordsOf(() => readSessionRow(state, 0), state.sessionsAt, 0)
  const { GENERATION, ACCOUNT: OWNER, EXPIRES_AT, PUBLIC_KEY, APPLICATION, AGENT } = SESSION
  t.same([wrote[0], wrote.at(-1)].map((each) => each!.word), [GENERATION, GENERATION], 'written between two generations')
  t.same([looked[0], looked.at(-1)].map((each) => each!.word), [GENERATION, GENERATION], 'read between them')
  t.same(looked.map(({ word }) => word).sort((a, b) => a - b), [OWNER, GENERATION, GENERATION, EXPIRES_AT, APPLICATION, AGENT])
  const stored = wrote.filter(({ stores }) => stores).map(({ word }) => word)
  const fields = [OWNER, EXPIRES_AT, APPLICATION, AGENT, ...Array.from({ length: 8 }, (_, word) => PUBLIC_KEY + word)]
  t.same(fields.filter((word) => !stored.includes(word)), [], 'every field is stored so')
  const made = wordsOf(() => createAccount(state, 0, new Int32Array(5).fill(8), 0), state.accountsAt, (account + 1) * ACCOUNT_WORDS)
  const who = wordsOf(() => readAccount(state, account + 1), state.accountsAt, (account + 1) * ACCOUNT_WORDS).map(({ word }) => word)
  const address = Array.from({ length: 5 }, (_, word) => ACCOUNT.ADDRESS + word)
  t.same(who.sort((a, b) => a - b), [ACCOUNT.APPLICATION, ...address, ACCOUNT.CREATED_AT, ACCOUNT.CREATED_SEQUENCE])
  t.same(who.filter((word) => !made.some((each) => each.word === word && each.stores)), [], 'and who an account is')
  t.equal(SESSION_WORDS, 16)
  // Two fields, two users: a generation read twice proves both.
  const user = (n: number): Access[] => [store('generation', 0), store('account', n), store('key', n), store('generation', n)]
  const isGood = (outcome: Outcome): boolean => {
    const [first, of, key, second] = outcome[1] as [number, number, number, number]
    return first === 0 || first !== second || (of === first && key === first)
  }
  const row = [load('generation'), load('account'), load('key'), load('generation')]
  proves(t, [[...user(1), ...user(2)], row], isGood, [[0, 4, write('elsewhere', 0)]])
})
