/**
 * Promise: a batch that the engine cannot apply stops every start with the name of its command, and changes nothing; the operator may cut
 * it by name when it is the last one and nobody has applied it, and goes on with all that was answered before it.
 */
import { cpSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { dataFile } from '../../core/journal/file.ts'
import { headRecord, type Head } from '../../core/journal/head.ts'
import { type Place } from '../../core/journal/reader.ts'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_WORDS } from '../../core/layout/table.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { exitCode } from '../../core/sequencer/matcher.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { EXIT } from '../../core/threads.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, type Matcher, type Signed } from '../support/journal.ts'
import { realStart, type RealStartOptions } from '../support/real_start.ts'

const UNKNOWN = 200
const sell = (matcher: Matcher, who: Signed): unknown[] => {
  postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...who, pair: 0, flags: Flag.SELL, price: 3000, lots: 100 })
  matcher.turn()
  return answersOf(matcher, 1).map(({ code }) => code)
}

/** Commits a batch of an order and a command that nobody knows, behind the sequencer's back; its first sequence. */
function poison({ sequencer: { writer, batch, state, eventsChecksum } }: Matcher, who: Signed): number {
  const first = state.clock[0]! + 1
  const order = { ...who, pair: 0, flags: Flag.SELL, price: 3001, lots: 100 }
  encode(COMMAND_LAYOUTS[CommandType.PLACE_ORDER]!, batch, 0, { kind: kindOf(CommandType.PLACE_ORDER, 1, 1), ...order })
  batch.i32.fill(0, RECORD_WORDS, 2 * RECORD_WORDS)
  batch.u32[RECORD_WORDS] = kindOf(UNKNOWN, 1, 1)
  writer.commit(first, state.clock[1]!, 2, 2, eventsChecksum)
  return first
}

interface Poisoned {
  readonly dataDir: string
  /** First sequence of the batch, the places before and behind it, and the state before it. */
  readonly first: number
  readonly before: Place
  readonly behind: Place
  readonly digest: string
  readonly who: Signed
}

/** A directory whose journal ends with such a batch, or has `more` batches behind it. */
async function poisoned(t: Test, more = 0): Promise<Poisoned> {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const matcher = realStart(dataDir)
  const who = openAccount(matcher, 1, 'ann')
  t.same(sell(matcher, who), [0])
  const { state, writer, eventsChecksum } = matcher.sequencer
  const digest = stateDigest(state)
  const place = (): Place => {
    matcher.database.refresh()
    const { next, checksum } = headRecord(matcher.database) as Head
    return { sequence: next, checksum }
  }
  const before = place()
  const first = poison(matcher, who)
  const behind = place()
  for (let batch = 0; batch < more; batch++) writer.commit(first + 2 + batch, state.clock[1]!, 1, 1, eventsChecksum)
  await matcher.database.close()
  return { dataDir, first, before, behind, digest, who }
}

/** A copy of a directory: LMDB opens a file once in a process, and what a start leaves open is closed later. */
function copied(t: Test, dataDir: string): string {
  const copy = temporaryDirectory()
  t.teardown(() => removeDirectory(copy))
  cpSync(dataDir, copy, { recursive: true })
  return copy
}

/** A start that must be refused with code 5, and changes nothing of the journal. */
function refused(t: Test, directory: string, words: RegExp, options: RealStartOptions, name: string): void {
  const dataDir = copied(t, directory)
  const before = readFileSync(dataFile(dataDir))
  let thrown: unknown
  try {
    realStart(dataDir, options)
  } catch (error) {
    thrown = error
  }
  t.match(thrown, { name: 'UnappliedBatch', message: words }, name)
  t.equal(exitCode(thrown), EXIT.INVARIANT)
  t.ok(before.equals(readFileSync(dataFile(dataDir))), `${name}: nothing is changed`)
}

const cut = (sequence: number): RealStartOptions => ({ flags: ['--cut-tail', String(sequence)] })

t.test('a last batch that nobody has applied', async (t) => {
  const { dataDir, first, digest, who } = await poisoned(t)
  const words = new RegExp(`sequence ${first}: the engine cannot apply command ${first + 1}, UNKNOWN_${UNKNOWN} \\(InvariantBroken: .*\\); `
    + `no snapshot and no history has applied it.*--cut-tail ${first} takes it out \\(the last batch\\)`)
  refused(t, dataDir, words, {}, 'the start says which command, and what to do')
  for (const other of [first - 1, first + 1, first + 2]) refused(t, dataDir, words, cut(other), `--cut-tail ${other}`)
  const said: string[] = []
  const say: RealStartOptions['say'] = (message) => void (message.type === 'log' && said.push(message.message))
  const matcher = realStart(dataDir, { ...cut(first), say })
  t.match(said.join('\n'), new RegExp(`the last batch at sequence ${first} was cut as asked`))
  t.equal(matcher.sequencer.state.scalars[SCALAR.ORDERS_LIVE], 1, 'what was answered is there, what was not is gone')
  t.ok(matcher.sequencer.state.clock[0]! > 1e9, 'no sequence of the batch is given out again')
  t.same(sell(matcher, who), [0], 'and it goes on')
  await matcher.database.close()
  verify(dataDir, () => undefined)
  const kinds = [...openSource(dataDir).steps].map(({ command }) => command.readUInt8(0))
  t.notOk(kinds.includes(UNKNOWN))
  t.ok(kinds.includes(CommandType.ACCEPT_LOSS), 'the loss is in the journal')
  const again = realStart(copied(t, dataDir), cut(first))
  t.equal(again.sequencer.state.scalars[SCALAR.ORDERS_LIVE], 2, 'with the flag left in place nothing more is cut')
  t.not(stateDigest(again.sequencer.state), digest)
  await again.database.close()
})

t.test('a batch that has others behind it', async (t) => {
  const { dataDir, first } = await poisoned(t, 1)
  for (const options of [{}, cut(first), cut(first + 2)]) {
    refused(t, dataDir, /UNKNOWN_200.*; batches follow it, so it was answered: start the version of the exchange that wrote it$/, options,
      `flags ${options.flags}`)
  }
})

t.test('a batch that somebody has applied, or may have', async (t) => {
  const { dataDir, first, before, behind } = await poisoned(t)
  const [name, path] = ['history.sqlite', '']
  const knowing = (place: () => Place): RealStartOptions => ({ ...cut(first), knows: { name, path, place } })
  refused(t, dataDir, /history.sqlite has applied it, so it was answered/, knowing(() => behind), 'applied')
  const broken = (): never => {
    throw new Error('disk I/O error')
  }
  refused(t, dataDir, /history.sqlite cannot be read and may have applied it/, knowing(broken), 'unread')
  const matcher = realStart(copied(t, dataDir), knowing(() => before))
  t.equal(matcher.sequencer.state.scalars[SCALAR.ORDERS_LIVE], 1, 'it may know all that is before the batch')
  await matcher.database.close()
})
