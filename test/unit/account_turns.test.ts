/**
 * Promise: while rows of accounts go from wallet to wallet, readers of other threads see each row as one user's, whole, and find every
 * account that is there; while that cannot be told, a row is nobody's. The file is also the thread that writes.
 */
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { apply, setTime } from '../../core/engine/apply.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { attachState, createState, type State } from '../../core/state/state.ts'
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { readAccount, type AccountView } from '../../core/view/accounts.ts'
import { findMember } from '../../core/view/families.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const TEXT = genesisText({ ...VARIANTS['market']!, limits: { accounts: 8, sessions: 16, sessionsPerAccount: 2 } })
const genesis = parseGenesis(TEXT)
const ROWS = 8
const TURNS = 40_000
const DAY = 86_400_000
const START = 1_700_000_000_000
/** No reader waits for less before it gives up (core/view/consistent.ts). */
const GIVEN_UP_MS = 50

/** Everything about user `n` follows from the number; it is made by command `n`. */
const wallet = (n: number): Uint8Array => new Uint8Array(Int32Array.from({ length: 5 }, () => n).buffer)
const applicationOf = (n: number): number => n % 2
const timeOf = (n: number): number => START + n * DAY

function signIn(state: State, n: number): void {
  const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(COMMAND_LAYOUTS[CommandType.OPEN_SESSION]!, record, 0, {
    kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, application: applicationOf(n),
    address: Buffer.from(wallet(n)).toString('hex'), publicKey: n.toString(16).padStart(64, '0'),
  })
  setTime(state, timeOf(n))
  apply(state, record, 0)
  state.outbox.count = 0
}

/** Users come, one a day, each into the row of the one who came eight before. */
function write(memory: SharedArrayBuffer): void {
  const state = attachState(genesis, { memory })
  for (let n = ROWS + 1; n <= TURNS; n++) signIn(state, n)
}

/** A state full of users, the first of whom stays. */
function full(): State {
  const state = createState(genesis)
  for (let n = 1; n <= ROWS; n++) {
    signIn(state, n)
    if (n === 1) keepAccount(state, 0)
  }
  return state
}

/** What is wrong with a user, or null. */
function faultOf({ application, address, createdAt, createdSequence }: AccountView): string | null {
  const words = new Int32Array(address.slice().buffer)
  const n = words[0]!
  const whole = words.every((word) => word === n) && application === applicationOf(n) && createdAt === timeOf(n) && createdSequence === n
  return whole ? null : `${[...words].join()} in ${application}, made at ${createdAt} by ${createdSequence}`
}

/** A row that cannot be told: no part of a user is in it. */
const isNobody = ({ application, address, createdSequence }: AccountView): boolean =>
  application === -1 && Number.isNaN(createdSequence) && address.every((byte) => byte === 0)

async function tests(): Promise<void> {
  const { default: t } = await import('tap')

  t.test('no reader sees two users in one row, nor misses one who is there', async (t) => {
    const state = full()
    const worker = new Worker(import.meta.filename, { workerData: state.buffers.memory })
    const ended = once(worker, 'exit')
    const faults: string[] = []
    let [reads, told, missed, untold] = [0, 0, 0, 0]
    const began = performance.now()
    const turns = (): number => Atomics.load(state.scalars, SCALAR.ACCOUNT_TURNS) / 2
    for (let slice = 0; slice < 10_000 && turns() < TURNS - ROWS; slice++) {
      for (let i = 0; i < 2000; i++, reads++) {
        const user = readAccount(state, i % ROWS)
        const fault = isNobody(user) ? null : faultOf(user)
        if (fault !== null && faults.length < 5) faults.push(fault)
        const member = findMember(state, applicationOf(1), wallet(1))
        if (member !== null && member.account !== 0) missed++
        const givenUp = Number(isNobody(user)) + Number(member === null)
        untold += givenUp
        told += 2 - givenUp
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [code] = await ended as [number]
    t.same([code, faults, missed], [0, [], 0], `${reads} reads during ${turns()} turns, ${untold} could not be told`)
    t.ok(told > 0, 'but others could')
    // A writer that loses its core in the middle of a turn keeps a reader waiting. Nothing but that wait makes a reader give up.
    t.ok(untold * GIVEN_UP_MS <= performance.now() - began, 'each of them after a wait')
    t.equal(turns(), TURNS - ROWS, 'a row went with every one who came')
    t.equal(readAccount(state, 0).createdSequence, 1, 'but for the one that was kept')
  })

  t.test('in the middle of it a row is nobody\'s', async (t) => {
    const state = full()
    Atomics.add(state.scalars, SCALAR.ACCOUNT_TURNS, 1)
    const { application, createdSequence } = readAccount(state, 3)
    t.equal(application, -1)
    t.ok(Number.isNaN(createdSequence), 'no id is its')
    t.equal(findMember(state, 1, wallet(1)), null)
    Atomics.add(state.scalars, SCALAR.ACCOUNT_TURNS, 1)
    t.same(findMember(state, 1, wallet(1)), { account: 0, master: -1, consented: false })
    t.equal(faultOf(readAccount(state, 3)), null)
  })
}

if (isMainThread) await tests()
else write(workerData as SharedArrayBuffer)
