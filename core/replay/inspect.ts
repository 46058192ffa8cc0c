/** `inspect --at SEQ`: one command, its events, and the exchange as it was right after it. */
import { formatDecimal } from '../lib/decimal.ts'
import { stateDigest } from '../snapshot/state_digest.ts'
import { accountRow, balanceRow, get, getI64, pairRow, totalRow } from '../state/rows.ts'
import { ACCOUNT, BALANCE, CLOCK, NO_ASK, PAIR, SCALAR, TOTAL } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { PAIR_STATUS_NAMES } from '../layout/command.ts'
import { userId } from '../layout/ids.ts'
import { openJournal } from '../journal/file.ts'
import { archiveFor, readEverything } from '../archive/archive.ts'
import { realIo } from '../lib/io.ts'
import { fromGenesis, rebuild } from '../recovery/recover.ts'
import { printable } from './steps.ts'
import { snapshotFiles } from '../snapshot/file.ts'
import { launchesOf } from '../view/launches.ts'

/** What was true after the command with sequence `at`; throws RangeError when the journal does not reach it. */
export function inspect(dataDir: string, at: number, archived?: string): Record<string, unknown> {
  const database = openJournal(dataDir, true)
  const archive = archiveFor(archived, database)
  let found: Record<string, unknown> | null = null
  const events: Buffer[] = []
  const listener = (sequence: number, time: number, command: Buffer, records: Uint8Array, _count: number, layout: number): void => {
    if (sequence !== at) return
    events.push(Buffer.from(records))
    found = { ...printable({ sequence, time, command, layout, events: Buffer.concat(events) }), state: describe(replayer.state) }
  }
  const { replayer } = at > 2
    ? rebuild(database, snapshotFiles(dataDir), at - 1, () => undefined, listener, realIo, archive)
    : fromGenesis(database, listener, realIo, archive)
  if (at === 1) return { sequence: 1, command: 'GENESIS', state: describe(replayer.state) }
  for (const batch of readEverything(archive, database, replayer.place)) {
    replayer.batch(batch)
    if (found !== null) return found
  }
  throw new RangeError(`the journal ends at ${replayer.state.clock[CLOCK.SEQUENCE]}, before ${at}`)
}

/** The exchange as a whole: pairs, assets, counts. */
export function describe(state: State): Record<string, unknown> {
  const { genesis, scalars } = state
  const accounts = scalars[SCALAR.ACCOUNTS]!
  const pairs = genesis.pairs.map((pair) => {
    const row = pairRow(state, pair.index)
    const bid = get(state, row, PAIR.BEST_BID)
    const ask = get(state, row, PAIR.BEST_ASK)
    const price = (ticks: number): string | null =>
      ticks === 0 || ticks === NO_ASK ? null : formatDecimal(ticks * pair.tickUnits, pair.priceScale)
    return {
      symbol: pair.symbol,
      status: PAIR_STATUS_NAMES[get(state, row, PAIR.STATUS)],
      bestBid: price(bid),
      bestAsk: price(ask),
      lastPrice: price(get(state, row, PAIR.LAST_PRICE)),
      bidOrders: get(state, row, PAIR.BID_ORDERS),
      askOrders: get(state, row, PAIR.ASK_ORDERS),
    }
  })
  const assets = genesis.assets.map((asset) => {
    let available = 0n
    let locked = 0n
    const rewards = getI64(state, totalRow(state, asset.index), TOTAL.REWARDS)
    for (let account = 0; account < accounts; account++) {
      const row = balanceRow(state, account, asset.index)
      available += getI64(state, row, BALANCE.AVAILABLE)
      locked += getI64(state, row, BALANCE.LOCKED)
    }
    const text = (atoms: bigint): string => formatDecimal(atoms, asset.scale)
    return {
      symbol: asset.symbol,
      issued: text(getI64(state, totalRow(state, asset.index), TOTAL.ISSUED)),
      available: text(available),
      locked: text(locked),
      fees: text(getI64(state, totalRow(state, asset.index), TOTAL.FEES)),
      ...(rewards === 0n ? {} : { rewards: text(rewards) }),
    }
  })
  let openOrders = 0
  for (let account = 0; account < accounts; account++) openOrders += get(state, accountRow(state, account), ACCOUNT.OPEN_ORDERS)
  const launches = launchesOf(state).map(({ pair, account, application: _, accountSequence, leaseEndsAt, ...launch }) => ({
    ...launch, pair: genesis.pairs[pair]!.symbol, userId: userId(accountSequence, account),
    leaseEndsAt: leaseEndsAt === 0 ? null : new Date(leaseEndsAt).toISOString(),
  }))
  return {
    digest: stateDigest(state),
    accounts,
    openOrders,
    fills: state.clock[CLOCK.FILLS],
    ...(launches.length === 0 ? {} : { launches }),
    receipts: scalars[SCALAR.RECEIPTS_COUNT],
    maintenance: scalars[SCALAR.MAINTENANCE] !== 0,
    pairs,
    assets,
  }
}
