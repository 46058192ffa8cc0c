/**
 * Deposits, the chains they come from, and settlement in the naive exchange: everything that was ever taken stays in lists. See naive.ts.
 */
import { CREDIT, DEPOSIT, EventType, SETTLEMENT } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'

const MOST = 4_600_000_000_000_000_000n
const SOURCE = 7
const [MOST_CHAINS, MOST_OPEN] = [8, 8]
/** Deposits that are remembered. */
const REMEMBERED = 1024
const [OPENED, CONFIRMED] = [1, 2]
/** Status of a withdrawal that the chain paid. */
const PAID = 4
const HIGHEST = 2 ** 53 - 1
/** Behind every log of a block; and the place of a deposit that a rewind took back. */
const [ALL_LOGS, MOVED] = [2 ** 31 - 1, -1]

export interface Chain {
  id: number
  block: number
  time: number
  hash: string
  /** Place of the last deposit. */
  last: [block: number, log: number]
  rewinds: number
}

/** One that was taken. */
export interface Deposit {
  chain: number
  block: number
  log: number
  txHash: string
  asset: number
  amount: bigint
  /** In suspense and in no total. */
  uncounted: boolean
  /** It found no row and is known: place in the list of those, the last one fills a gap. */
  told: Decoded
  sequence: number
}

/** What nobody has yet; the last row may stand for several. */
export interface Suspended {
  row: number
  sequence: number
  asset: number
  application: number
  amount: bigint
  remainder: bigint
  deposits: number
  createdAt: number
  /** The deposit; null of the last row. */
  of: Deposit | null
  told: Decoded
}

export interface Mint { asset: number; amount: bigint; through: number; txHash: string }

export interface Batch {
  number: number
  from: number
  through: number
  fills: number
  openedAt: number
  confirmed: boolean
  /** CONFIRM_SETTLEMENT. */
  told: Decoded
}

const isWhole = (value: number, low: number): boolean => Number.isInteger(value) && value >= low && value <= HIGHEST
const isBehind = ([block, log]: readonly [number, number], [otherBlock, otherLog]: readonly [number, number]): boolean =>
  block > otherBlock || (block === otherBlock && log > otherLog)

/** What came of an asset, but for what is in no total. */
export const depositedOf = (ex: NaiveExchange, asset: number): bigint =>
  ex.vault.deposits.filter((each) => each.asset === asset && !each.uncounted).reduce((sum, { amount }) => sum + amount, 0n)

/** Atoms of an asset in suspense. */
export const suspenseOf = (ex: NaiveExchange, asset: number): bigint =>
  ex.vault.suspended.filter((each) => each.asset === asset && each.of?.uncounted === false).reduce((sum, { amount }) => sum + amount, 0n)

/** So many atoms more may be issued: all that ever were are bounded, those that were withdrawn included. */
export const fits = (ex: NaiveExchange, asset: number, amount: bigint): boolean =>
  ex.issued[asset]! + withdrawnOf(ex, asset) + amount <= MOST

/** Paid on the chain. */
export const withdrawnOf = (ex: NaiveExchange, asset: number): bigint =>
  ex.vault.withdrawals.filter((each) => each.asset === asset && each.status === PAID).reduce((sum, { amount }) => sum + amount, 0n)

function depositRefusal(ex: NaiveExchange, command: Decoded): number {
  const [block, log, asset] = [Number(command['block']), Number(command['logIndex']), Number(command['asset'])]
  const [amount, remainder] = [BigInt(command['amount']!), BigInt(command['remainder']!)]
  if (ex.vault.chains[Number(command['chain'])] === undefined) return CODE.NOT_FOUND
  const good = isWhole(block, 0) && log >= 0 && amount >= 0n && amount <= MOST && remainder >= 0n &&
    asset >= -1 && asset < ex.genesis.assets.length && (asset >= 0 || amount === 0n)
  return good ? 0 : CODE.VALIDATION_ERROR
}

export function creditDeposit(ex: NaiveExchange, command: Decoded): void {
  const code = depositRefusal(ex, command)
  if (code !== 0) return ex.refuse(command, code, -1)
  const [row, block, log, asset] = ['chain', 'block', 'logIndex', 'asset'].map((name) => Number(command[name])) as
    [number, number, number, number]
  const chain = ex.vault.chains[row]!
  const amount = BigInt(command['amount']!)
  if (!isBehind([block, log], chain.last) || isRemembered(ex, command)) {
    if (findAgain(ex, command)) return
    return void ex.result(command, { account: -1, detail: -1, detail2: 1 })
  }
  const account = ex.accounts.findIndex((each) => each.application === command['application'] && each.address === command['beneficiary'])
  const counted = asset >= 0 && fits(ex, asset, amount)
  const deposit: Deposit = {
    chain: row, block, log, txHash: String(command['txHash']), asset, amount, uncounted: !counted, told: command, sequence: ex.sequence,
  }
  ex.vault.deposits.push(deposit)
  chain.last = [block, log]
  const isNothing = asset >= 0 && amount === 0n
  const owner = counted && !isNothing ? account : -1
  const suspense = isNothing || owner >= 0 ? -1 : suspend(ex, command, deposit)
  if (!deposit.uncounted) ex.issued[asset] = ex.issued[asset]! + amount
  if (owner >= 0) credit(ex, owner, asset, amount)
  tell(ex, command, owner, suspense)
  ex.result(command, { account: owner, detail: suspense })
}

/** It is among the last ones that were taken; one that a rewind took back is where it is said to be now. */
function isRemembered(ex: NaiveExchange, command: Decoded): boolean {
  const found = ex.vault.deposits.slice(-REMEMBERED).find(({ chain, log, txHash }) =>
    chain === command['chain'] && txHash === command['txHash'] && (log === command['logIndex'] || log === MOVED))
  if (found?.log === MOVED) Object.assign(found, { log: Number(command['logIndex']), block: Number(command['block']) })
  return found !== undefined
}

/** One that found no row: now its account is there, or a row. */
function findAgain(ex: NaiveExchange, command: Decoded): boolean {
  const { vault, genesis: { limits: { suspense: most } } } = ex
  const at = vault.lost.findIndex(({ told }) => ['chain', 'block', 'logIndex', 'txHash'].every((name) => told[name] === command[name]))
  if (at < 0) return false
  const deposit = vault.lost[at]!
  const [asset, amount] = [Number(command['asset']), BigInt(command['amount']!)]
  const counted = asset >= 0 && fits(ex, asset, amount)
  const owner = !counted ? -1
    : ex.accounts.findIndex((each) => each.application === command['application'] && each.address === command['beneficiary'])
  if (owner < 0 && vault.freeSuspense.length === 0 && vault.suspenseUsed >= most - 1) return false
  const end = vault.lost.pop()!
  if (end !== deposit) vault.lost[at] = end
  const last = vault.suspended.find(({ row }) => row === most - 1)!
  if (--last.deposits === 0) {
    vault.suspended.splice(vault.suspended.indexOf(last), 1)
    vault.suspenseUsed = most - 1
  }
  const isNothing = asset >= 0 && amount === 0n
  Object.assign(deposit, { asset, amount, uncounted: !counted })
  const suspense = isNothing || owner >= 0 ? -1 : suspend(ex, command, deposit)
  if (counted) ex.issued[asset] = ex.issued[asset]! + amount
  if (owner >= 0 && !isNothing) credit(ex, owner, asset, amount)
  tell(ex, command, isNothing ? -1 : owner, suspense)
  ex.result(command, { account: isNothing ? -1 : owner, detail: suspense })
  return true
}

/** A row of its own; the last row is for all that find no other, of which it keeps nothing but how many they are. */
function suspend(ex: NaiveExchange, command: Decoded, deposit: Deposit): number {
  const { vault, genesis: { limits: { suspense: most } } } = ex
  const known = vault.suspended.find(({ row }) => row === most - 1)
  const full = vault.freeSuspense.length === 0 && vault.suspenseUsed >= most - 1
  if (full) deposit.uncounted = true
  if (full && ex.inForce >= 5 && vault.lost.length < most * 4) vault.lost.push(deposit)
  if (full && known !== undefined) known.deposits++
  if (full && known !== undefined) return known.row
  const row = vault.freeSuspense.pop() ?? vault.suspenseUsed++
  const of = full ? { asset: -1, application: -1, amount: 0n, remainder: 0n, of: null } : {
    asset: Number(command['asset']), application: Number(command['application']), amount: deposit.amount,
    remainder: BigInt(command['remainder']!), of: deposit,
  }
  vault.suspended.push({ row, sequence: ex.sequence, deposits: 1, createdAt: ex.now, told: command, ...of })
  return row
}

function credit(ex: NaiveExchange, account: number, asset: number, amount: bigint): void {
  ex.pay(account, asset, amount)
  ex.accounts[account]!.known = true
  ex.events.push({
    layout: CREDIT,
    values: {
      kind: EventType.CREDIT, account, sequence: ex.sequence, time: ex.now, asset, source: SOURCE, amount,
      available: ex.available(account, asset), locked: ex.locked(account, asset), version: ex.accounts[account]!.version[asset]!,
    },
  })
}

/** DEPOSIT. */
function tell(ex: NaiveExchange, command: Decoded, account: number, suspense: number): void {
  const [chain, logIndex, block, asset] = ['chain', 'logIndex', 'block', 'asset'].map((name) => Number(command[name]))
  ex.events.push({
    layout: DEPOSIT,
    values: {
      kind: EventType.DEPOSIT, account, sequence: ex.sequence, time: ex.now, chain: chain!, logIndex: logIndex!, block: block!,
      asset: asset!, suspense, amount: command['amount']!, remainder: command['remainder']!, txHash: command['txHash']!,
      beneficiary: command['beneficiary']!,
    },
  })
}

export function assignSuspense(ex: NaiveExchange, command: Decoded): void {
  const { suspended, freeSuspense } = ex.vault
  const account = Number(command['account'])
  const found = suspended.find(({ row, sequence }) => row === command['row'] && sequence === command['suspenseSequence'])
  const isThere = ex.accounts[account]?.createdSequence === command['createdSequence']
  if (found === undefined || !isThere) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const { row, asset, amount, of } = found
  if (of === null || asset < 0) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  if (of.uncounted && !fits(ex, asset, amount)) return ex.refuse(command, CODE.OVERLOADED, -1)
  if (of.uncounted) ex.issued[asset] = ex.issued[asset]! + amount
  of.uncounted = false
  suspended.splice(suspended.indexOf(found), 1)
  freeSuspense.push(row)
  credit(ex, account, asset, amount)
  tell(ex, found.told, account, row)
  ex.result(command, { account, detail: row })
}

export function advanceChain(ex: NaiveExchange, command: Decoded): void {
  const { chains } = ex.vault
  const [row, rewind] = [Number(command['chain']), Number(command['rewind'])]
  const [id, block, time] = ['chainId', 'block', 'blockTime'].map((name) => Number(command[name])) as [number, number, number]
  const good = isWhole(id, 1) && isWhole(block, 0) && isWhole(time, 0) && row >= 0 && row < MOST_CHAINS && rewind >= 0 && rewind <= 1
  if (!good) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  const chain = chains[row]
  if (chain === undefined) {
    if (row !== chains.length || rewind !== 0 || chains.some((each) => each.id === id)) return ex.refuse(command, CODE.CHAIN_ORDER, -1)
    chains.push({ id, block, time, hash: String(command['blockHash']), last: [block, ALL_LOGS], rewinds: 0 })
    return void ex.result(command, { account: -1 })
  }
  const follows = rewind === 0 ? block > chain.block : block <= chain.block && block >= leftOf(ex, row)
  if (chain.id !== id || !follows) return ex.refuse(command, CODE.CHAIN_ORDER, -1)
  if (rewind === 1) goBack(ex, row, block)
  Object.assign(chain, { block, time, hash: String(command['blockHash']) })
  ex.result(command, { account: -1 })
}

/** The highest block of the deposits of a chain that are no longer remembered. */
export const leftOf = (ex: NaiveExchange, row: number): number =>
  Math.max(0, ...ex.vault.deposits.slice(0, -REMEMBERED).filter(({ chain }) => chain === row).map(({ block }) => block))

/** Deposits behind `block` come again, at other places perhaps. */
function goBack(ex: NaiveExchange, row: number, block: number): void {
  const chain = ex.vault.chains[row]!
  chain.rewinds++
  if (chain.last[0] > block) chain.last = [block, ALL_LOGS]
  for (const each of ex.vault.deposits.slice(-REMEMBERED)) if (each.chain === row && each.block > block) each.log = MOVED
}

export function openSettlement(ex: NaiveExchange, command: Decoded): void {
  const { batches, fills } = ex.vault
  const last = batches.at(-1)
  const open = batches.filter(({ confirmed }) => !confirmed).length
  if (command['batch'] !== (last?.number ?? 0) + 1 || open >= MOST_OPEN) return ex.refuse(command, CODE.SETTLEMENT_ORDER, -1)
  const before = batches.reduce((sum, batch) => sum + batch.fills, 0)
  const batch: Batch = {
    number: batches.length + 1, from: (last?.through ?? 0) + 1, through: ex.sequence, fills: fills - before, openedAt: ex.now,
    confirmed: false, told: {},
  }
  batches.push(batch)
  tellBatch(ex, batch, OPENED, 0, '')
  settled(ex, command, batch)
}

function tellBatch(ex: NaiveExchange, { number, from, through, fills }: Batch, status: number, block: number, txHash: string): void {
  ex.events.push({
    layout: SETTLEMENT,
    values: {
      kind: EventType.SETTLEMENT, status, sequence: ex.sequence, time: ex.now, batch: number, from, through, fills, block, txHash,
    },
  })
}

const settled = (ex: NaiveExchange, command: Decoded, { number, through, fills }: Batch): void =>
  void ex.result(command, { account: -1, originalSequence: number, orderSequence: through, expiresAt: fills })

export function confirmSettlement(ex: NaiveExchange, command: Decoded): void {
  const batch = ex.vault.batches.find(({ confirmed }) => !confirmed)
  if (batch === undefined || command['batch'] !== batch.number) return ex.refuse(command, CODE.SETTLEMENT_ORDER, -1)
  Object.assign(batch, { confirmed: true, told: command })
  tellBatch(ex, batch, CONFIRMED, Number(command['block']), String(command['txHash']))
  settled(ex, command, batch)
}

export function faucetMinted(ex: NaiveExchange, command: Decoded): void {
  const [asset, amount, through] = [Number(command['asset']), BigInt(command['amount']!), Number(command['through'])]
  if (ex.genesis.assets[asset] === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  if (amount < 1n || amount > outstanding(ex, asset) || !isWhole(through, 0)) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  ex.vault.mints.push({ asset, amount, through, txHash: String(command['txHash']) })
  ex.result(command, { account: -1 })
}

/** Of what the faucet issued, what was not minted on the hub. */
export const outstanding = (ex: NaiveExchange, asset: number): bigint =>
  ex.issued[asset]! - depositedOf(ex, asset) + withdrawnOf(ex, asset) - mintedOf(ex, asset)

export const mintedOf = (ex: NaiveExchange, asset: number): bigint =>
  ex.vault.mints.filter((each) => each.asset === asset).reduce((sum, { amount }) => sum + amount, 0n)
