/**
 * Promise: whoever asks whom an account brought gets the newest 500 of them, newest first, and is told when there are more or when not all
 * could be read; a row that went to another wallet is nobody's referee and nobody's referrer. What is counted and earned is one moment's.
 */
import t from 'tap'
import { apply, setTime } from '../../core/engine/apply.ts'
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { BALANCE } from '../../core/state/columns.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { REFERRAL } from '../../core/state/referral_rows.ts'
import { balanceRow, referralRow, set, setI64 } from '../../core/state/rows.ts'
import { createState, type State } from '../../core/state/state.ts'
import { REFEREES_MOST, readReferees, readReferralShares, readReferrer, readRewards } from '../../core/view/referrals.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const START = 1_700_000_000_000
const DAY = 86_400_000
const gate = (): Int32Array => new Int32Array(new SharedArrayBuffer(64))
const stateOf = (accounts: number): State => createState(parseGenesis(
  genesisText({ ...VARIANTS['market']!, limits: { accounts, sessions: 4096, sessionsPerAccount: 2 } })))

/** Wallet `n` signs in, brought by the account in row `referrer` that command `made` made; -1: by nobody. */
function signIn(state: State, n: number, referrer = -1, made = referrer + 1, time = START + n): void {
  const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(COMMAND_LAYOUTS[CommandType.OPEN_SESSION]!, record, 0, {
    kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, application: 0, address: n.toString(16).padStart(40, '0'),
    publicKey: n.toString(16).padStart(64, '0'), referrer: referrer + 1, referrerSequence: referrer < 0 ? 0 : made,
  })
  setTime(state, time)
  apply(state, record, 0)
  state.outbox.count = 0
}
const rowsOf = (state: State, account: number): number[] => readReferees(state, gate(), account).referees.map((view) => view.account)

t.test('three levels are counted, and the direct ones listed newest first', async (t) => {
  const state = stateOf(16)
  signIn(state, 1)
  signIn(state, 2, 0)
  signIn(state, 3, 1)
  signIn(state, 4, 2)
  signIn(state, 5, 0)
  const { referees, ...rest } = readReferees(state, gate(), 0)
  t.same(rest, { complete: true, counts: [2, 1, 1] })
  t.same(referees.map((view) => [view.account, Number(view.address[19]), view.createdAt]), [[4, 5, START + 5], [1, 2, START + 2]])
  t.same([0, 1, 2, 3, 4].map((account) => readReferrer(state, account)?.account), [undefined, 0, 1, 2, 0])
  t.same(readReferralShares(state, gate()), [200_000, 50_000, 25_000])
})

t.test('at most 500 are listed, and then it is not complete', async (t) => {
  const state = stateOf(REFEREES_MOST + 2)
  signIn(state, 1)
  for (let n = 2; n <= REFEREES_MOST + 1; n++) signIn(state, n, 0)
  t.same([rowsOf(state, 0).length, readReferees(state, gate(), 0).complete], [REFEREES_MOST, true], 'all there are')
  signIn(state, REFEREES_MOST + 2, 0)
  const { referees, complete, counts } = readReferees(state, gate(), 0)
  t.same([referees.length, referees[0]!.account, referees.at(-1)!.account, complete], [REFEREES_MOST, REFEREES_MOST + 1, 2, false])
  t.equal(counts[0], REFEREES_MOST + 1, 'counted are all of them')
})

t.test('a row that went to another wallet is nobody\'s', async (t) => {
  const state = stateOf(4)
  signIn(state, 1)
  signIn(state, 2, 0)
  keepAccount(state, 1)
  signIn(state, 3, 1)
  signIn(state, 4)
  t.same([readReferrer(state, 1)!.account, rowsOf(state, 0), rowsOf(state, 1)], [0, [1], [2]])
  // Rows of blank accounts go to whoever comes next, the oldest first.
  signIn(state, 5, -1, 0, START + 300 * DAY)
  t.equal(readReferrer(state, 1), undefined, 'who brought it is no more')
  t.same(rowsOf(state, 0), [], 'and whoever has the row brought nobody')
  t.same(rowsOf(state, 1), [2])
  signIn(state, 6, -1, 0, START + 600 * DAY)
  const { referees, complete, counts } = readReferees(state, gate(), 1)
  t.same([referees, complete, counts], [[], true, [0, 0, 0]], 'a referee that goes leaves the list')
})

t.test('a list that is torn ends where it is, with those who are certain', async (t) => {
  const state = stateOf(16)
  for (let n = 1; n <= 4; n++) signIn(state, n, n === 1 ? -1 : 0)
  signIn(state, 5)
  const older = (account: number, to: number): void => set(state, referralRow(state, account), REFERRAL.OLDER, to)
  older(2, 5)
  t.same([rowsOf(state, 0), readReferees(state, gate(), 0).complete], [[3, 2], false], 'it leads to somebody else')
  older(2, 1000)
  t.same([rowsOf(state, 0), readReferees(state, gate(), 0).complete], [[3, 2], false], 'it leads to no row')
  older(2, 4)
  t.same([rowsOf(state, 0).length, readReferees(state, gate(), 0).complete], [REFEREES_MOST, false], 'it leads in a circle')
  older(2, 2)
  const busy = gate()
  busy.fill(1)
  t.same(readReferees(state, busy, 0).referees.map((view) => view.account), [3, 2, 1], 'a matcher that does not come to rest')
  t.notOk(readReferees(state, busy, 0).complete, 'of which nothing is certain as a whole')
  t.same([readRewards(state, busy, 0), readReferralShares(state, busy)], [null, null], 'sums are not told then')
})

t.test('rewards are by asset', async (t) => {
  const state = stateOf(4)
  signIn(state, 1)
  setI64(state, balanceRow(state, 0, 1), BALANCE.REWARDS, 7n)
  const rewards = readRewards(state, gate(), 0)!
  t.same(rewards.map(Number), state.genesis.assets.map(({ index }) => (index === 1 ? 7 : 0)))
})
