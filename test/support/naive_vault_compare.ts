/** Rows of money in and out of the engine against what the naive exchange has in its lists. */
import { SCALAR } from '../../core/state/columns.ts'
import {
  DEPOSIT_ID, DEPOSIT_ID_WORDS, DEPOSIT_IDS, FAUCET_MINT, FAUCET_MINT_WORDS, FAUCET_MINTS, LOST_DEPOSIT, LOST_DEPOSIT_WORDS, SETTLEMENT_ROW,
  SETTLEMENT_WORDS, SETTLEMENTS,
  SUSPENSE, SUSPENSE_WORDS, VAULT, VAULT_ACCOUNT, VAULT_ACCOUNT_WORDS, VAULT_CHAIN, VAULT_CHAIN_WORDS, VAULT_TOTAL, VAULT_TOTAL_WORDS,
  WITHDRAWAL_ROW, WITHDRAWAL_WORDS,
} from '../../core/state/vault_rows.ts'
import type { State } from '../../core/state/state.ts'
import { DAY_MS, type NaiveExchange } from './naive.ts'
import { Differs } from './naive_compare.ts'
import { familyOf } from './naive_families.ts'
import { depositedOf, leftOf, mintedOf, suspenseOf, withdrawnOf } from './naive_deposits.ts'
import { askedBy, sumOf, termsOf, underWay, usedBy, usedOf } from './naive_vault.ts'

const same = (what: string, engine: unknown, expected: unknown): void => {
  if (String(engine) !== String(expected)) throw new Differs(`${what}: engine ${String(engine)}, naive ${String(expected)}`)
}

/** Every row; throws at the first word that differs. */
export function compareVault(state: State, naive: NaiveExchange): void {
  compareCounts(state, naive)
  for (const { index } of naive.genesis.assets) compareTotals(state, naive, index)
  naive.accounts.forEach((_, account) => compareAccount(state, naive, account))
  compareWithdrawals(state, naive)
  compareSuspense(state, naive)
  compareLost(state, naive)
  compareChains(state, naive)
  compareRings(state, naive)
  compareSettlements(state, naive)
}

function compareCounts(state: State, naive: NaiveExchange): void {
  const { vault } = naive
  const [count, number] = [(word: number) => state.vault[word], (word: number) => state.vaultF64[word >>> 1]]
  const live = underWay(naive)
  same('withdrawals under way', count(VAULT.WITHDRAWALS_LIVE), live.length)
  same('withdrawals that need approval', count(VAULT.NEED_APPROVAL), live.filter(({ needsApproval }) => needsApproval).length)
  same('rows of withdrawals', state.scalars[SCALAR.WITHDRAWALS_USED], vault.rowsUsed)
  same('suspense', count(VAULT.SUSPENSE_LIVE), vault.suspended.length)
  same('rows of suspense', state.scalars[SCALAR.SUSPENSE_USED], vault.suspenseUsed)
  same('chains', count(VAULT.CHAINS), vault.chains.length)
  same('turns', count(VAULT.TURNS), vault.turns)
  same('changes', count(VAULT.CHANGES), vault.changes)
  same('stopped', count(VAULT.STOPPED), vault.stopped)
  same('deposits', number(VAULT.DEPOSITS), vault.deposits.length)
  same('mints', number(VAULT.FAUCET_MINTS), vault.mints.length)
  const [last, confirmed] = [vault.batches.at(-1), vault.batches.findLast((batch) => batch.confirmed)]
  same('last batch', number(VAULT.BATCH), last?.number ?? 0)
  same('settled through', number(VAULT.THROUGH), last?.through ?? 0)
  same('fills settled', number(VAULT.FILLS), vault.batches.reduce((sum, { fills }) => sum + fills, 0))
  same('last confirmed batch', number(VAULT.CONFIRMED), confirmed?.number ?? 0)
  same('confirmed through', number(VAULT.CONFIRMED_THROUGH), confirmed?.through ?? 0)
}

function compareTotals(state: State, naive: NaiveExchange, asset: number): void {
  const { vault } = naive
  const at = asset * VAULT_TOTAL_WORDS
  const total = (word: number): bigint => state.vaultTotalsI64[(at + word) >>> 1]!
  same(`deposited of ${asset}`, total(VAULT_TOTAL.DEPOSITED), depositedOf(naive, asset))
  same(`withdrawn of ${asset}`, total(VAULT_TOTAL.WITHDRAWN), withdrawnOf(naive, asset))
  same(`locked by withdrawals of ${asset}`, total(VAULT_TOTAL.LOCKED), sumOf(underWay(naive).filter((each) => each.asset === asset)))
  same(`in suspense of ${asset}`, total(VAULT_TOTAL.SUSPENSE), suspenseOf(naive, asset))
  same(`minted of ${asset}`, total(VAULT_TOTAL.MINTED), mintedOf(naive, asset))
  const set = vault.terms.get(asset)
  same(`terms of ${asset} are set`, state.vaultTotals[at + VAULT_TOTAL.TERMS_SET], set === undefined ? 0 : 1)
  if (set !== undefined) {
    const terms = termsOf(naive, asset)
    const words = [VAULT_TOTAL.MINIMUM, VAULT_TOTAL.USER_DAILY, VAULT_TOTAL.TOTAL_DAILY, VAULT_TOTAL.APPROVAL_ABOVE].map(total)
    same(`terms of ${asset}`, words, [terms.minimum, terms.userDaily, terms.totalDaily, terms.approvalAbove])
  }
  const today = state.vaultTotalsF64[(at + VAULT_TOTAL.DAY) >>> 1] === Math.floor(naive.now / DAY_MS)
  same(`withdrawn of ${asset} today`, today ? total(VAULT_TOTAL.USED) : 0n, usedOf(naive, asset))
}

function compareAccount(state: State, naive: NaiveExchange, account: number): void {
  const at = account * VAULT_ACCOUNT_WORDS
  const own = underWay(naive).filter((each) => each.account === account).sort((a, b) => b.sequence - a.sequence)
  const rows: number[] = []
  for (let row = state.vaultAccounts[at + VAULT_ACCOUNT.NEWEST]! - 1; row >= 0 && rows.length <= own.length;) {
    rows.push(row)
    row = state.withdrawals[row * WITHDRAWAL_WORDS + WITHDRAWAL_ROW.NEXT]! - 1
  }
  same(`withdrawals of ${account}`, rows, own.map(({ row }) => row))
  same(`how many of ${account}`, state.vaultAccounts[at + VAULT_ACCOUNT.LIVE], own.length)
  if (naive.accounts[account]!.master < 0) {
    const ofFamily = underWay(naive).filter((each) => familyOf(naive, each.account) === account).length
    same(`how many of the family of ${account}`, state.vaultAccounts[at + VAULT_ACCOUNT.FAMILY_LIVE], ofFamily)
  }
  const today = state.vaultAccountsF64[(at + VAULT_ACCOUNT.DAY) >>> 1] === Math.floor(naive.now / DAY_MS)
  same(`limits used by ${account} today`, today ? state.vaultAccountsF64[(at + VAULT_ACCOUNT.USED) >>> 1] : 0, usedBy(naive, account))
  const asked = askedBy(naive, account)
  same(`asked for by ${account} today`, today ? state.vaultAccounts[at + VAULT_ACCOUNT.APPROVAL] : 0, asked === null ? 0 : asked + 1n)
}

/** Bytes of words as the events tell them. */
const hexOf = (words: Int32Array, at: number, bytes: number): string =>
  Buffer.from(words.buffer, words.byteOffset + at * 4, bytes).toString('hex')
const whole = (hex: string, bytes: number): string => hex.padEnd(bytes * 2, '0')

function compareWithdrawals(state: State, naive: NaiveExchange): void {
  for (const made of underWay(naive)) {
    const at = made.row * WITHDRAWAL_WORDS
    const word = (place: number): number => state.withdrawals[at + place]!
    const number = (place: number): number => state.withdrawalsF64[(at + place) >>> 1]!
    const what = `withdrawal ${made.sequence} in row ${made.row}`
    same(what, [
      number(WITHDRAWAL_ROW.SEQUENCE), word(WITHDRAWAL_ROW.STATUS), word(WITHDRAWAL_ROW.FLAGS), word(WITHDRAWAL_ROW.ACCOUNT),
      word(WITHDRAWAL_ROW.ASSET), state.withdrawalsI64[(at + WITHDRAWAL_ROW.AMOUNT) >>> 1],
      number(WITHDRAWAL_ROW.CREATED_AT), number(WITHDRAWAL_ROW.DEADLINE), number(WITHDRAWAL_ROW.UPDATED_AT),
      number(WITHDRAWAL_ROW.DAY), number(WITHDRAWAL_ROW.SHARE), number(WITHDRAWAL_ROW.BLOCK),
      word(WITHDRAWAL_ROW.APPROVAL_SHARE), number(WITHDRAWAL_ROW.SIGNED_DAY), word(WITHDRAWAL_ROW.COUNTING),
    ], [
      made.sequence, made.status, made.needsApproval ? 1 : 0, made.account, made.asset, made.amount, made.createdAt, made.deadline,
      made.updatedAt, Math.floor(made.createdAt / DAY_MS), made.part, made.block,
      made.asked, made.signedDay ?? 0, (made.bySignature ? 1 : 0) + (made.isFirst ? 2 : 0) + (made.signedDay === null ? 0 : 4),
    ])
    same(`${what}, transaction`, hexOf(state.withdrawals, at + WITHDRAWAL_ROW.TX_HASH, 32), whole(made.txHash, 32))
    same(`${what}, destination`, hexOf(state.withdrawals, at + WITHDRAWAL_ROW.DESTINATION, 20), whole(made.destination, 20))
  }
}

function compareSuspense(state: State, naive: NaiveExchange): void {
  for (const { row, sequence, asset, application, amount, remainder, deposits, createdAt, told, of } of naive.vault.suspended) {
    const at = row * SUSPENSE_WORDS
    const [words, i64, f64] = [state.suspense, state.suspenseI64, state.suspenseF64]
    same(`suspense row ${row}`, [
      f64[(at + SUSPENSE.SEQUENCE) >>> 1], words[at + SUSPENSE.ASSET], words[at + SUSPENSE.APPLICATION], words[at + SUSPENSE.CHAIN],
      i64[(at + SUSPENSE.AMOUNT) >>> 1], i64[(at + SUSPENSE.REMAINDER) >>> 1], f64[(at + SUSPENSE.CREATED_AT) >>> 1],
      f64[(at + SUSPENSE.BLOCK) >>> 1], words[at + SUSPENSE.LOG_INDEX], words[at + SUSPENSE.DEPOSITS], words[at + SUSPENSE.COUNTED],
    ], [
      sequence, asset, application, told['chain'], amount, remainder, createdAt, told['block'], told['logIndex'], deposits,
      of?.uncounted === false ? 1 : 0,
    ])
    same(`transaction of suspense row ${row}`, hexOf(words, at + SUSPENSE.TX_HASH, 32), whole(String(told['txHash']), 32))
    same(`beneficiary of suspense row ${row}`, hexOf(words, at + SUSPENSE.BENEFICIARY, 20), whole(String(told['beneficiary']), 20))
    same(`token of suspense row ${row}`, hexOf(words, at + SUSPENSE.TOKEN, 20), whole(String(told['token']), 20))
  }
}

function compareLost(state: State, naive: NaiveExchange): void {
  const { lost } = naive.vault
  same('deposits without a row', state.vault[VAULT.LOST], lost.length)
  lost.forEach(({ told, sequence }, number) => {
    const at = number * LOST_DEPOSIT_WORDS
    const [words, f64] = [state.lostDeposits, state.lostDepositsF64]
    same(`deposit ${number} without a row`, [
      words[at + LOST_DEPOSIT.CHAIN], words[at + LOST_DEPOSIT.LOG_INDEX], f64[(at + LOST_DEPOSIT.BLOCK) >>> 1],
      f64[(at + LOST_DEPOSIT.SEQUENCE) >>> 1], words[at + LOST_DEPOSIT.APPLICATION],
      hexOf(words, at + LOST_DEPOSIT.TX_HASH, 32), hexOf(words, at + LOST_DEPOSIT.BENEFICIARY, 20),
    ], [
      told['chain'], told['logIndex'], told['block'], sequence, told['application'], whole(String(told['txHash']), 32),
      whole(String(told['beneficiary']), 20),
    ])
  })
}

function compareChains(state: State, naive: NaiveExchange): void {
  naive.vault.chains.forEach(({ id, block, time, hash, last, rewinds }, row) => {
    const at = row * VAULT_CHAIN_WORDS
    const number = (word: number): number => state.vaultChainsF64[(at + word) >>> 1]!
    same(`chain ${row}`, [
      number(VAULT_CHAIN.CHAIN_ID), number(VAULT_CHAIN.BLOCK), number(VAULT_CHAIN.BLOCK_TIME), number(VAULT_CHAIN.DEPOSIT_BLOCK),
      state.vaultChains[at + VAULT_CHAIN.DEPOSIT_LOG], state.vaultChains[at + VAULT_CHAIN.REWINDS], number(VAULT_CHAIN.LEFT),
    ], [id, block, time, ...last, rewinds, leftOf(naive, row)])
    same(`hash of chain ${row}`, hexOf(state.vaultChains, at + VAULT_CHAIN.HASH, 32), whole(hash, 32))
  })
}

/** The last deposits and mints. */
function compareRings(state: State, naive: NaiveExchange): void {
  const { deposits, mints } = naive.vault
  for (let number = Math.max(0, deposits.length - DEPOSIT_IDS); number < deposits.length; number++) {
    const { chain, log, block, txHash } = deposits[number]!
    const at = (number % DEPOSIT_IDS) * DEPOSIT_ID_WORDS
    const row = [state.depositIds[at + DEPOSIT_ID.CHAIN], state.depositIds[at + DEPOSIT_ID.LOG_INDEX]]
    same(`deposit ${number}`, [...row, state.depositIdsF64[(at + DEPOSIT_ID.BLOCK) >>> 1]], [chain, log, block])
    same(`transaction of deposit ${number}`, hexOf(state.depositIds, at + DEPOSIT_ID.TX_HASH, 32), whole(txHash, 32))
  }
  for (let number = Math.max(0, mints.length - FAUCET_MINTS); number < mints.length; number++) {
    const { asset, through, txHash } = mints[number]!
    const at = (number % FAUCET_MINTS) * FAUCET_MINT_WORDS
    const row = [state.faucetMints[at + FAUCET_MINT.ASSET], state.faucetMintsF64[(at + FAUCET_MINT.THROUGH) >>> 1]]
    same(`mint ${number}`, row, [asset, through])
    same(`transaction of mint ${number}`, hexOf(state.faucetMints, at + FAUCET_MINT.TX_HASH, 32), whole(txHash, 32))
  }
}

function compareSettlements(state: State, naive: NaiveExchange): void {
  for (const { number, from, through, fills, openedAt, confirmed, told } of naive.vault.batches.slice(-SETTLEMENTS)) {
    const at = (number % SETTLEMENTS) * SETTLEMENT_WORDS
    const words = [SETTLEMENT_ROW.BATCH, SETTLEMENT_ROW.FROM, SETTLEMENT_ROW.THROUGH, SETTLEMENT_ROW.FILLS, SETTLEMENT_ROW.OPENED_AT]
    const row = words.map((word) => state.settlementsF64[(at + word) >>> 1])
    const expected = [confirmed ? 2 : 1, number, from, through, fills, openedAt]
    same(`batch ${number}`, [state.settlements[at + SETTLEMENT_ROW.STATUS], ...row], expected)
    const said = [SETTLEMENT_ROW.TRADES_ROOT, SETTLEMENT_ROW.BALANCES_ROOT, SETTLEMENT_ROW.TX_HASH]
    const naively = ['tradesRoot', 'balancesRoot', 'txHash'].map((name) => whole(String(told[name] ?? ''), 32))
    same(`roots of batch ${number}`, said.map((word) => hexOf(state.settlements, at + word, 32)), naively)
  }
}
