/**
 * Applications in the engine, as an operator can follow: added, renamed, closed and opened, with origins and server keys in turn; and all
 * of it is in what is stored, so that a snapshot has it.
 */
import t, { type Test } from 'tap'
import { checkInvariants } from '../../core/state/invariants.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { applicationId } from '../../core/layout/ids.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { Applications, type ApplicationView } from '../../core/view/applications.ts'
import { createBench } from '../support/naive_compare.ts'
import { copyStored } from '../support/recording.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const HOUR = 3_600_000
const START = 1_700_000_000_000
const TEXT = genesisText({ ...VARIANTS['market']!, limits: { applications: 3 } })
const hex = (text: string): string => Buffer.from(text).toString('hex')
const hashOf = (digit: string): string => digit.repeat(64)

/** An engine that an operator and wallets talk to. */
class Office {
  bench = createBench(TEXT)
  time = START
  result: Decoded = {}

  /** Applies a command and says how it ended: `done`, or the code of the refusal. */
  send(type: CommandType, values: Decoded): string {
    const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
    const lane = type >= CommandType.SET_APPLICATION ? 0 : 1
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const count = this.bench.run(command, 0, this.time)
    checkInvariants(this.bench.state)
    this.result = decode(RESULT, this.bench.said, (count - 1) * RECORD_WORDS)
    return this.result['code'] === 0 ? 'done' : refusalByNumber(Number(this.result['code'])).code
  }

  set(application: number, clientId: string, name: string, active = 1): string {
    return this.send(CommandType.SET_APPLICATION, { application, active, clientId: hex(clientId), name: hex(name) })
  }

  origin(application: number, origin: string, allowed = 1): string {
    return this.send(CommandType.SET_ORIGIN, { application, allowed, origin: hex(origin) })
  }

  key(application: number, hash: string, graceMs = 0): string {
    return this.send(CommandType.SET_SERVER_KEY, { application, graceMs, hash })
  }

  signIn(application: number, who: string): string {
    const publicKey = hex(`${who} ${application}`.padEnd(32, '.'))
    return this.send(CommandType.OPEN_SESSION, { application, address: hex(who.padEnd(20, '.')), publicKey })
  }

  view(application: number): ApplicationView {
    return new Applications(this.bench.state, new Int32Array(1)).at(application)!
  }

  /** Goes on with what a snapshot has. */
  reload(): void {
    this.bench = copyStored(TEXT, this.bench.state)
  }
}

t.test('one is added, found by its client id, and there is an end to them', async (t) => {
  const office = new Office()
  t.equal(office.set(-1, 'desk', 'Desk'), 'done')
  const sequence = Number(office.result['sequence'])
  t.match(office.result, { detail: 2, detail2: 1, originalSequence: sequence })
  t.match(office.view(2), { id: applicationId(sequence, 2), clientId: 'desk', name: 'Desk', isActive: true, createdAt: START, key: null })
  t.equal(office.set(-1, 'one', 'Another'), 'CLIENT_ID_IN_USE')
  t.equal(office.set(-1, 'more', 'More'), 'TOO_MANY_APPLICATIONS')
  t.equal(office.set(2, 'desk', 'The Desk'), 'done', 'its own client id is its own')
  t.equal(office.set(2, 'two', 'The Desk'), 'CLIENT_ID_IN_USE')
  t.match(office.view(2), { id: applicationId(sequence, 2), clientId: 'desk', name: 'The Desk', createdAt: START })
  const { id } = office.bench.state.genesis.applications[0]!
  t.match(office.view(0), { id, clientId: 'one', createdAt: 0 }, 'those of the genesis keep their ids')
})

/** Both the live engine and one made of its stored columns. */
function bothWays(t: Test, office: Office, check: () => void): void {
  check()
  office.reload()
  t.comment('and from what is stored')
  check()
}

t.test('nobody signs in to one that is closed; who is in stays, and a wallet is a user in each', async (t) => {
  const office = new Office()
  t.equal(office.signIn(0, 'ann'), 'done')
  const { detail, detail2, account } = office.result
  t.equal(office.signIn(1, 'ann'), 'done')
  t.not(office.result['account'], account)
  t.equal(office.set(0, 'one', 'One', 0), 'done')
  bothWays(t, office, () => {
    t.equal(office.signIn(0, 'ann'), 'APPLICATION_INACTIVE', 'not even who was there')
    t.equal(office.signIn(0, 'bob'), 'APPLICATION_INACTIVE')
    t.equal(office.signIn(3, 'bob'), 'NOT_FOUND')
    t.equal(office.signIn(1, 'ann'), 'done')
    t.equal(office.send(CommandType.REFRESH_SESSION, { session: detail!, sessionGeneration: detail2! }), 'done')
  })
  t.equal(office.set(0, 'one', 'One'), 'done')
  t.equal(office.signIn(0, 'ann'), 'done')
  t.equal(office.result['account'], account, 'the same user as before')
})

t.test('origins: in the order they were allowed, none twice, sixteen at most', async (t) => {
  const office = new Office()
  const origins = Array.from({ length: 16 }, (_, index) => `https://app-${index}.example`)
  for (const origin of origins) t.equal(office.origin(0, origin), 'done')
  t.equal(office.origin(0, origins[3]!), 'done', 'again is no harm')
  t.equal(office.result['detail2'], 16)
  t.equal(office.origin(0, 'https://one-more.example'), 'TOO_MANY_APPLICATIONS')
  t.equal(office.origin(0, 'https://unknown.example', 0), 'NOT_FOUND')
  for (const gone of [0, 7, 15]) t.equal(office.origin(0, origins[gone]!, 0), 'done')
  t.equal(office.origin(0, '*'), 'done')
  const left = [...origins.filter((_, index) => ![0, 7, 15].includes(index)), '*']
  bothWays(t, office, () => t.same(office.view(0).allowedOrigins, left))
  t.same(office.view(1).allowedOrigins, [], 'the others have their own')
})

t.test('server keys: the one before stays for its grace, an older one ends', async (t) => {
  const office = new Office()
  const keys = (): [key: string, oldKey: string, oldKeyUntil: number, keyAt: number] => {
    const { key, oldKey, oldKeyUntil, keyAt } = office.view(0)
    const text = (bytes: Uint8Array | null): string => (bytes === null ? '' : Buffer.from(bytes).toString('hex'))
    return [text(key), text(oldKey), oldKeyUntil, keyAt]
  }
  t.equal(office.key(0, hashOf('a'), HOUR), 'done')
  t.same(keys(), [hashOf('a'), '', 0, START], 'a first key has none before it')
  office.time += 1000
  t.equal(office.key(0, hashOf('b'), HOUR), 'done')
  t.equal(office.result['expiresAt'], START + 1000 + HOUR)
  bothWays(t, office, () => t.same(keys(), [hashOf('b'), hashOf('a'), START + 1000 + HOUR, START + 1000]))
  t.equal(office.key(0, hashOf('c'), HOUR), 'done')
  t.same(keys().slice(0, 2), [hashOf('c'), hashOf('b')])
  t.equal(office.key(0, hashOf('d')), 'done')
  t.same(keys().slice(0, 3), [hashOf('d'), '', 0])
  for (const graceMs of [-1, 0.5, Number.NaN, Infinity, 365 * 24 * HOUR + 1]) {
    t.equal(office.key(0, hashOf('e'), graceMs), 'VALIDATION_ERROR')
  }
  office.key(0, hashOf('f'), HOUR)
  t.equal(office.key(0, hashOf('0'), HOUR), 'done')
  bothWays(t, office, () => t.same(keys(), ['', '', 0, 0], 'both end at once'))
})
