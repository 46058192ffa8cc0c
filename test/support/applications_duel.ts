/**
 * Random commands about applications, and sign-ins to them, through the engine and through the naive exchange: event bytes, and what a
 * reader of the shared columns sees, compared after every command. Apart from naive_compare.ts's stream, so that neither changes the other.
 */
import { APPLICATION, APPLICATION_WORDS } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import type { State } from '../../core/state/state.ts'
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { Applications } from '../../core/view/applications.ts'
import { NaiveExchange } from './naive.ts'
import { createBench, Differs } from './naive_compare.ts'
import { decodeCommand, encodeEvents, printEvents, printRecord } from './naive_events.ts'
import { genesisText, VARIANTS } from './variants.ts'

const START = 1_700_000_000_000
const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const hex = (text: string): string => Buffer.from(text, 'utf8').toString('hex')
const CLIENT_IDS = ['one', 'two', 'three', 'four', 'a client id of exactly forty bytes, truly', 'p q', '', 'new\nline', 'del\u007f', 'é']
const NAMES = ['One', 'Zwei ü 🙂', 'a name of exactly forty-eight bytes, not one less', '', 'new\nline', 'del\u007f']
const ORIGINS = Array.from({ length: 20 }, (_, index) => `https://app-${index}.example:${8000 + index}`)
  .concat('*', `https://${'x'.repeat(88)}`, 'with space', '', 'é')

export interface ApplicationsDuel {
  readonly seed: number
  readonly commands: number
}

/** Applications at most in these exchanges: few, so that they run out. */
export const APPLICATIONS_MAX = 4

/** The exchange of the duel. */
export function applicationsGenesis(): string {
  const tight = VARIANTS['tight']!
  return genesisText({ ...tight, limits: { ...tight.limits, applications: APPLICATIONS_MAX, accounts: 64 } })
}

/** Runs it; throws at the first difference. Returns how often each refusal number came, 0 for none, by type of command. */
export function duelApplications({ seed, commands }: ApplicationsDuel): Map<string, number> {
  const { state, run, said } = createBench(applicationsGenesis())
  const naive = new NaiveExchange(state.genesis)
  const reader = new Applications(state, new Int32Array(1))
  const random = createPrng(seed)
  const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
  const seen = new Map<string, number>()
  let time = START
  for (let index = 0; index < commands; index++) {
    time += random.below(10) === 0 ? random.below(3 * HOUR) : random.below(50)
    const { type, values } = applicationCommand(random)
    const lane = type === CommandType.OPEN_SESSION || random.below(30) === 0 ? 1 : 0
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane), correlation: index })
    const decoded = decodeCommand(command, 0)
    const records = run(command, 0, time)
    const expected = encodeEvents(naive.apply(decoded, time))
    const fail = (what: string): never => {
      const told = `engine:\n${printEvents(said, records)}\nnaive:\n${printEvents(expected, expected.bytes.length / RECORD_BYTES)}`
      throw new Error(`seed ${seed}, command ${index}: ${what}\n${printRecord(decoded)}\n${told}`, { cause: new Differs(what) })
    }
    if (!Buffer.from(said.bytes.buffer, 0, records * RECORD_BYTES).equals(expected.bytes)) fail('the events differ')
    if (index % 7 === 0) compareRows(state, reader, naive, fail)
    if (index % 50 === 0) checkInvariants(state)
    const name = `${type} ${said.i32[6]}`
    seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  return seen
}

/** The next command, and what it says. */
export function applicationCommand(random: Prng): { type: CommandType; values: Decoded } {
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!
  const application = random.below(20) === 0 ? pick([-2, APPLICATIONS_MAX, 1000]) : random.below(APPLICATIONS_MAX)
  const dice = random.below(100)
  if (dice < 25) {
    const address = random.below(50).toString(16).padStart(40, '0')
    const publicKey = random.below(200).toString(16).padStart(64, '1')
    return { type: CommandType.OPEN_SESSION, values: { application, address, publicKey } }
  }
  if (dice < 50) {
    const row = random.below(5) === 0 ? -1 : application
    const active = random.below(4) === 0 ? 0 : 1 + random.below(2)
    const spoilt = random.below(40) === 0 ? '00ff' : ''
    const values = { application: row, active, clientId: hex(pick(CLIENT_IDS)) + spoilt, name: hex(pick(NAMES)) }
    return { type: CommandType.SET_APPLICATION, values }
  }
  if (dice < 80) {
    const allowed = random.below(5) < 3 ? 1 : 0
    return { type: CommandType.SET_ORIGIN, values: { application, allowed, origin: hex(pick(ORIGINS)) } }
  }
  const graceMs = random.below(10) === 0 ? pick([-1, 0.5, Number.NaN, Infinity, YEAR, YEAR + 1]) : random.below(3) * HOUR
  const hash = random.below(4) === 0 ? '00'.repeat(32) : random.u32().toString(16).padStart(64, '7')
  return { type: CommandType.SET_SERVER_KEY, values: { application, graceMs, hash } }
}

/** What the reader of the shared columns says of every application. */
function compareRows(state: State, reader: Applications, naive: NaiveExchange, fail: (what: string) => never): void {
  const key = (bytes: Uint8Array | null): string => (bytes === null ? '' : Buffer.from(bytes).toString('hex'))
  const engine = reader.list().map((view) => ({
    clientId: view.clientId, name: view.name, active: view.isActive, origins: view.allowedOrigins, key: key(view.key),
    oldKey: key(view.oldKey), oldKeyUntil: view.oldKeyUntil, keyAt: view.keyAt,
    users: state.applications[view.application * APPLICATION_WORDS + APPLICATION.ACCOUNTS],
  }))
  const expected = naive.applications.map(({ createdSequence: _, ...rest }, index) => ({
    ...rest, users: naive.accounts.filter(({ application }) => application === index).length,
  }))
  if (JSON.stringify(engine) !== JSON.stringify(expected)) fail(`the rows differ: ${JSON.stringify(engine)} ${JSON.stringify(expected)}`)
}
