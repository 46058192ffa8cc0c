/**
 * `settlement --batch N`: the roots of a batch of settlement once more, from the journal alone and by the written rules, without anything
 * of what the exchange makes them with: leaves as text of hex digits, trees by halves, balances by walking everything. Slow, and meant to
 * be read beside the rules (core/settlement/leaves.ts, proof.ts).
 */
import { createHash } from 'node:crypto'
import { archiveFor, readEverything } from '../archive/archive.ts'
import { openJournal } from '../journal/file.ts'
import { CommandType, LAYOUT, typeOfKind } from '../layout/command.ts'
import { EventType, eventTypeOf, FILL, RESULT, SETTLEMENT } from '../layout/event.ts'
import { userId } from '../layout/ids.ts'
import { decode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../layout/table.ts'
import { CONFIRM_SETTLEMENT_COMMAND, SettlementStatus } from '../layout/vault.ts'
import { realIo } from '../lib/io.ts'
import { fromGenesis } from '../recovery/recover.ts'
import { ACCOUNT, BALANCE, CLOCK, SCALAR } from '../state/columns.ts'
import { BucketState, MARGIN_ACCOUNT, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { accountRow, assetCount, balanceRow, bucketRow, get, getF64, getI64, marginAccountRow, positionRow, scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

export interface SettlementFound {
  readonly batch: number
  readonly from: number
  readonly through: number
  readonly trades: number
  readonly tradesRoot: string
  readonly balances: number
  readonly balancesRoot: string
  /** What CONFIRM_SETTLEMENT says that stands on the chain; `null`: it is not confirmed in this journal. */
  readonly confirmed: { readonly block: number; readonly txHash: string; readonly tradesRoot: string; readonly balancesRoot: string } | null
  /** Whether both roots are those of the chain; `null`: it is not confirmed. */
  readonly equal: boolean | null
}

const sha256 = (hex: string): string => createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex')

/** The root of leaves, hex digits each: split where the largest power of two that leaves something to the right is. */
function rootOf(leaves: readonly string[]): string {
  if (leaves.length === 0) return '00'.repeat(32)
  if (leaves.length === 1) return sha256(`00${leaves[0]!}`)
  let half = 1
  while (half * 2 < leaves.length) half *= 2
  return sha256(`01${rootOf(leaves.slice(0, half))}${rootOf(leaves.slice(half))}`)
}

const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex')
const id = (uuid: string): string => uuid.replaceAll('-', '')
/** A whole number of so many bits, a negative one as its complement. */
const bits = (value: number | bigint, width: number): string => BigInt.asUintN(width, BigInt(value)).toString(16).padStart(width / 4, '0')

const userAt = (state: State, account: number): string =>
  id(userId(getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE), account))

function tradeText(state: State, fill: Decoded): string {
  const pair = Number(fill['pair'])
  const user = (name: string): string => userAt(state, Number(fill[name]))
  return [
    ascii('ringbook trade 1'), bits(fill['sequence'] as number, 64), bits(fill['index'] as number, 32),
    id(state.genesis.pairs[pair]!.id),
    bits(fill['price'] as number, 32), bits(fill['lots'] as number, 32), bits(fill['quote'] as bigint, 64),
    user('takerAccount'), user('makerAccount'), bits(fill['takerFee'] as bigint, 64), bits(fill['makerFee'] as bigint, 64),
    bits(fill['time'] as number, 64),
  ].join('')
}

/** What margin accounts, buckets and positions of an account hold: every row is looked at. */
function marginOf(state: State, account: number): bigint {
  let sum = 0n
  for (let number = 0; number < scalar(state, SCALAR.MARGIN_ACCOUNTS_USED); number++) {
    const row = marginAccountRow(state, number)
    const isHis = get(state, row, MARGIN_ACCOUNT.OPEN) === 1 && get(state, row, MARGIN_ACCOUNT.ACCOUNT) === account
    if (isHis) sum += getI64(state, row, MARGIN_ACCOUNT.DEPOSITED)
  }
  for (let number = 0; number < scalar(state, SCALAR.BUCKETS_USED); number++) {
    const row = bucketRow(state, number)
    if (get(state, row, RISK_BUCKET.STATE) === BucketState.FREE || get(state, row, RISK_BUCKET.ACCOUNT) !== account) continue
    sum += getI64(state, row, RISK_BUCKET.REALIZED)
    for (let next = get(state, row, RISK_BUCKET.FIRST_POSITION); next > 0; next = get(state, positionRow(state, next - 1), POSITION.NEXT)) {
      sum -= getI64(state, positionRow(state, next - 1), POSITION.COST)
    }
  }
  return sum
}

function balanceTexts(state: State, batch: number): string[] {
  const texts: string[] = []
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const inMargin = state.collateralAsset < 0 ? 0n : marginOf(state, account)
    for (let asset = 0; asset < assetCount(state); asset++) {
      const row = balanceRow(state, account, asset)
      const [available, locked, rewards] = [BALANCE.AVAILABLE, BALANCE.LOCKED, BALANCE.REWARDS].map((field) => getI64(state, row, field))
      const margin = asset === state.collateralAsset ? inMargin : 0n
      if (available === 0n && locked === 0n && margin === 0n && rewards === 0n) continue
      texts.push([
        ascii('ringbook balance'), bits(batch, 64), userAt(state, account),
        id(state.genesis.assets[asset]!.id),
        bits(available!, 64), bits(locked!, 64), bits(margin, 64), bits(rewards!, 64),
      ].join(''))
    }
  }
  return texts
}

function viewsOver(bytes: Uint8Array): Views {
  const own = new ArrayBuffer(Math.ceil(bytes.length / RECORD_BYTES) * RECORD_BYTES)
  new Uint8Array(own).set(bytes)
  return viewsOf(own)
}

/** Looks at every command in turn for one batch. */
class BatchSearch {
  readonly #batch: number
  readonly #state: () => State
  /** Trades since the batch before. */
  #trades: string[] = []
  opened: Omit<SettlementFound, 'confirmed' | 'equal'> | null = null
  confirmed: SettlementFound['confirmed'] = null

  constructor(batch: number, state: () => State) {
    this.#batch = batch
    this.#state = state
  }

  get isDone(): boolean {
    return this.confirmed !== null
  }

  heard(command: Buffer, layout: number, events: Uint8Array): void {
    const views = viewsOver(events)
    let code = -1
    for (let at = 0; at < views.i32.length; at += RECORD_WORDS) {
      const type = eventTypeOf(views.u32[at]!)
      if (type === EventType.RESULT) code = views.i32[at + RESULT.at.code]!
      // A fill behind the batch is of no interest, and is told of many times.
      if (type === EventType.FILL && this.opened === null) this.#trades.push(tradeText(this.#state(), decode(FILL, views, at)))
      if (type === EventType.SETTLEMENT) this.#settled(decode(SETTLEMENT, views, at))
    }
    if (layout !== LAYOUT || code !== 0 || typeOfKind(command.readUInt32LE(0)) !== CommandType.CONFIRM_SETTLEMENT) return
    const said = decode(CONFIRM_SETTLEMENT_COMMAND, viewsOver(command), 0)
    if (said['batch'] !== this.#batch) return
    const root = (name: string): string => `0x${String(said[name])}`
    this.confirmed = {
      block: said['block'] as number, txHash: root('txHash'), tradesRoot: root('tradesRoot'), balancesRoot: root('balancesRoot'),
    }
  }

  #settled({ status, batch, from, through }: Decoded): void {
    if (status !== SettlementStatus.OPENED) return
    if (batch === this.#batch) {
      const balances = balanceTexts(this.#state(), this.#batch)
      this.opened = {
        batch: this.#batch, from: from as number, through: through as number, trades: this.#trades.length,
        tradesRoot: `0x${rootOf(this.#trades)}`, balances: balances.length, balancesRoot: `0x${rootOf(balances)}`,
      }
    }
    this.#trades = []
  }
}

/** Throws RangeError when the journal does not open that batch. */
export function settlement(
  dataDir: string, batch: number, archived: string | undefined, report: (sequence: number) => void,
): SettlementFound {
  const database = openJournal(dataDir, true)
  const archive = archiveFor(archived, database)
  const search = new BatchSearch(batch, () => replayer.state)
  const { replayer } = fromGenesis(
    database, (_sequence, _time, command, events, _count, layout) => search.heard(command, layout, events), realIo, archive,
  )
  for (const one of readEverything(archive, database, replayer.place)) {
    replayer.batch(one)
    report(replayer.state.clock[CLOCK.SEQUENCE]!)
    if (search.isDone) break
  }
  const { opened, confirmed } = search
  if (opened === null) throw new RangeError(`the journal opens no batch ${batch}`)
  const equal = confirmed === null ? null : opened.tradesRoot === confirmed.tradesRoot && opened.balancesRoot === confirmed.balancesRoot
  return { ...opened, confirmed, equal }
}
