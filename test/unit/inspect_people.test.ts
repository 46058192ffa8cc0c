/** Promise: inspect shows people what the state has of a user, an order or a pair, at any sequence, as the journal's events say it too. */
import t from 'tap'
import { pairRow, get, getI64, balanceRow, accountRow } from '../../core/state/rows.ts'
import { ACCOUNT, BALANCE, PAIR } from '../../core/state/columns.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { IdKind, orderId, parseId, userId } from '../../core/layout/ids.ts'
import { inspect } from '../../core/replay/inspect.ts'
import { inspectPeople, type InspectCall } from '../../core/replay/inspect_people.ts'
import { exportedLines } from '../support/exported_lines.ts'
import { makeJournal } from '../support/journal.ts'
import { ownDirectory, recordedJournal } from '../support/recorded_journal.ts'
import type { Told } from '../support/told_records.ts'

const quiet = { warn: () => undefined, progress: () => undefined }

t.test('a user: its balances and open orders are those of the state, by UUID and by wallet', async (t) => {
  const dataDir = recordedJournal(t, 'identity_family')
  const { names } = exportedLines(dataDir)
  const { state } = names
  const { assets, applications } = state.genesis
  for (const account of [0, 1, 2, 3]) {
    const user = names.user(account)!
    const told = inspectPeople({ dataDir, user }, quiet)
    const [one, more] = told['users'] as Told[]
    t.equal(more, undefined)
    t.match(one, { userId: user, wallet: names.wallet(account), openOrders: get(state, accountRow(state, account), ACCOUNT.OPEN_ORDERS) })
    t.equal((one!['orders'] as Told[]).length, one!['openOrders'])
    const balances = assets.map((asset) => {
      const row = balanceRow(state, account, asset.index)
      const text = (atoms: bigint): string => formatDecimal(atoms, asset.scale)
      const [available, locked] = [getI64(state, row, BALANCE.AVAILABLE), getI64(state, row, BALANCE.LOCKED)]
      return { asset: asset.symbol, available: text(available), locked: text(locked) }
    }).filter(({ available, locked }) => available !== '0' || locked !== '0')
    t.strictSame(one!['balances'], balances)
    const ofWallet = inspectPeople({ dataDir, user: names.wallet(account) }, quiet)['users'] as Told[]
    t.ok(ofWallet.some(({ userId: id }) => id === user) && ofWallet.length <= applications.length)
  }
})

/** Quantity that is open of an order, by the lines alone, after each sequence that changed it. */
function historyOf(lines: readonly Told[], id: string): { sequence: number; remaining: string | null }[] {
  const found: { sequence: number; remaining: string | null }[] = []
  for (const line of lines) {
    for (const event of line['events'] as Told[]) {
      const sequence = line['sequence'] as number
      const ended = event['event'] === 'ORDER_ENDED' || line['command'] === 'CANCEL_ORDER'
      const isDone = event['refusal'] === undefined && ['ORDER_ENDED', 'RESULT'].includes(event['event'] as string)
      if (event['makerOrderId'] === id) {
        found.push({ sequence, remaining: event['makerRemainingQuantity'] === '0' ? null : event['makerRemainingQuantity'] as string })
      } else if (event['orderId'] === id && isDone) {
        const isOpen = !ended && ['SUBMITTED', 'PARTIALLY_FILLED'].includes(event['status'] as string)
        found.push({ sequence, remaining: isOpen ? event['remainingQuantity'] as string : null })
      }
    }
  }
  return found
}

t.test('an order: what it is after each command that touched it, and all of those', async (t) => {
  const dataDir = ownDirectory(t)
  await makeJournal(dataDir, { seed: 5, batches: 150, snapshots: [40, 100] }).database.close()
  const { lines } = exportedLines(dataDir)
  const events = lines.flatMap((line) => line['events'] as Told[])
  const ids = new Set(events.flatMap(({ makerOrderId: id }) => (id === undefined ? [] : [id as string])))
  const ended = events.find(({ event }) => event === 'ORDER_ENDED')
  t.ok(ids.size >= 3 && ended !== undefined, `${ids.size} orders that rested and were filled`)
  for (const id of [...ids].slice(0, 4).concat(ended!['orderId'] as string)) {
    const history = historyOf(lines, id)
    for (const { sequence, remaining } of history) {
      const told = inspectPeople({ dataDir, order: id, at: sequence }, quiet)
      t.match(told, { sequence, orderId: id, isOpen: remaining !== null })
      t.equal((told['order'] as Told | null)?.['remainingQuantity'] ?? null, remaining, `${id} at ${sequence}`)
    }
    const trail = (inspectPeople({ dataDir, order: id }, quiet)['trail'] as Told[]).map(({ sequence }) => sequence)
    for (const { sequence } of history) t.ok(trail.includes(sequence), `${sequence} is in its trail`)
    const whole = lines.filter((line) => JSON.stringify(line).includes(id)).map(({ sequence }) => sequence)
    t.strictSame([...new Set(trail)], whole, 'nothing that names it is missing')
  }
})

t.test('a pair: its best prices are those of the state, at every sequence', async (t) => {
  const dataDir = ownDirectory(t)
  const { database, after } = makeJournal(dataDir, { seed: 5, batches: 40, snapshots: [20] })
  await database.close()
  const { names } = exportedLines(dataDir)
  for (const pair of names.state.genesis.pairs) {
    const { pair: told } = inspectPeople({ dataDir, pair: pair.symbol }, quiet) as { pair: { bids: Told[] } }
    const bid = get(names.state, pairRow(names.state, pair.index), PAIR.BEST_BID)
    const best = told.bids[0]?.['price'] as string | undefined
    t.equal(best === undefined ? 0 : Number(parseDecimal(best, pair.priceScale)) / pair.tickUnits, bid)
  }
  for (const { last } of [after[3]!, after[25]!]) {
    const raw = inspect(dataDir, last)['state'] as Told
    const told = inspectPeople({ dataDir, at: last }, quiet)
    t.strictSame(told['state'], raw, 'the exchange as a whole is what it was')
    t.equal(told['sequence'], last)
  }
  t.match(inspectPeople({ dataDir, at: 1 }, quiet), { sequence: 1, state: { accounts: 0 } })
})

t.test('what is not there is said', async (t) => {
  const dataDir = ownDirectory(t)
  await makeJournal(dataDir, { batches: 5 }).database.close()
  const says = (call: Partial<InspectCall>, words: RegExp): unknown => t.throws(() => inspectPeople({ dataDir, ...call }, quiet), words)
  says({ at: 10_000 }, /the journal ends at \d+, before 10000/)
  says({ user: 'me' }, /--user me: neither the UUID of a user nor a wallet/)
  says({ user: userId(9_999, 3) }, /there is no such user at sequence/)
  says({ user: orderId(3, 3) }, /neither the UUID of a user/)
  says({ pair: 'BTC-USD' }, /there is no such pair. Pairs: BTC\/USD/)
  says({ order: userId(3, 3) }, /not the UUID of an order/)
  says({ order: orderId(3, 4711) }, /no order got this id/)
  says({ order: orderId(30, 1), at: 20 }, /was placed later, at sequence 30/)
  t.equal(parseId(IdKind.ORDER, orderId(30, 1))!.sequence, 30)
})
